import { parseArgs } from 'node:util'
import type { LedgerQuery } from '@km0/audit'
import { CommandError } from './command.ts'
import { instantOf } from './lake-open.ts'

export const LEDGER_HELP = `ledger: what stood at each station between a van and the panel, and what became of every difference

  pnpm ledger [--from TIME --to TIME | --all] [--journal FILE …] [--wait SECONDS] [--drained] [--json]

  --from, --to      arrival times, ISO 8601 or ms since 1970 (default: the hour that ends with the newest record of the log)
  --all             the whole log
  --journal FILE    journal of a publisher; may be given more than once (default: that of the platform running here)
  --wait SECONDS    how long to wait until the jobs have applied the log as it is now (default 0)
  --drained         nothing is on its way any more: what was published and is not in the log is lost
  --json            a report for programs; docs/ledger.md says what it holds

Takes KAFKA_BROKERS and DATABASE_URL, or the platform that \`npm start\` runs here.
Exit code: 0 it balances, 1 something is unnamed, 2 it could not be told.
`

export interface LedgerOptions {
  readonly span: LedgerQuery['span']
  /** null: those of the platform running here. */
  readonly journals: readonly string[] | null
  readonly waitMs: number
  readonly drained: boolean
  readonly json: boolean
}

/** Reads the arguments after the program's name; null when help is asked for. Throws CommandError. */
export function parseLedgerOptions(args: readonly string[]): LedgerOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      all: { type: 'boolean', default: false },
      journal: { type: 'string', multiple: true },
      wait: { type: 'string', default: '0' },
      drained: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help === true) return null
  if (!/^\d{1,6}$/.test(values.wait)) throw new CommandError(`--wait takes a whole number of seconds, not "${values.wait}"`)
  return {
    span: spanOf(values),
    journals: values.journal ?? null,
    waitMs: Number(values.wait) * 1000,
    drained: values.drained,
    json: values.json,
  }
}

function spanOf({ from, to, all }: { from?: string | undefined; to?: string | undefined; all: boolean }): LedgerQuery['span'] {
  if (all && (from !== undefined || to !== undefined)) throw new CommandError('--all is the whole log: it goes without --from and --to')
  if (all) return 'whole'
  if (from === undefined && to === undefined) return 'last-hour'
  if (from === undefined || to === undefined) throw new CommandError('--from and --to go together')
  const [fromMs, toMs] = [instantOf('from', from), instantOf('to', to)]
  if (toMs <= fromMs) throw new CommandError(`--to ${to} is not after --from ${from}`)
  return { fromMs, toMs }
}
