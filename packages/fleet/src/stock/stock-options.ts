import { parseArgs } from 'node:util'
import { UsageError } from '../options.ts'

/** What the command line of `pnpm stock` asks for. */
export type StockCommand = { readonly kind: 'help' } | StockRun

export interface StockRun {
  readonly kind: 'run'
  readonly seed: number
  readonly products: number
  readonly perSecond: number
  readonly oddities: boolean
  readonly campaigns: boolean
  /** Campaigns asked for, in seconds after the start. */
  readonly forced: readonly { readonly atS: number; readonly lastsS: number }[]
  /** Shelves that are all but emptied, in seconds after the start. */
  readonly recalls: readonly { readonly atS: number; readonly shelves: number }[]
  readonly lateReplicaMs: number
  /** Partitions to write to; null: the key decides among all. */
  readonly partitions: readonly number[] | null
  readonly catchUpMinutes: number
  readonly statePath: string | null
  /** A fixed span, written as fast as it goes; null: from now on, without end. */
  readonly span: { readonly startMs: number; readonly durationMs: number } | null
  readonly print: boolean
}

export const STOCK_HELP = `pnpm stock: a seeded ordering service that writes stock changes to Kafka (KAFKA_BROKERS, topic comandes.esdeveniments).

Twelve markets, hundreds of products. Campaigns triple the load for 10 to 25 minutes. Two replicas report with delays of their own
(inv-gir p99 6 s, inv-bcn p99 40 s). Some events come twice under one id, some have none, some are of other kinds, a few are broken.
The market of ripoll is idle at night. Equal seeds and instants give equal records.

  --seed N                 (1)
  --products N             products in each market (120)
  --per-second N           changes a second by day, without a campaign (70)
  --campaign SECONDS[@AT]  a campaign that begins AT seconds after the start (0); may be repeated
  --recall SHELVES[@AT]    a batch is withdrawn AT seconds after the start (0): so many shelves are all but empty; may be repeated
  --calm                   no campaign by chance, no twins, no other kinds, nothing broken
  --late-replica-ms N      added to the delay of inv-bcn (0)
  --partitions LIST        write to these partitions only, e.g. 0,1,2,3; default: the key decides
  --catch-up-minutes N     write the last N minutes first, with their own timestamps (0)
  --state FILE             remember how far it has come: a service that starts again goes on from there
  --start-ms N --duration-s N   write this span as fast as it goes, and stop
  --print                  print the records as JSON lines instead of writing them
Environment: KAFKA_BROKERS, KM0_HTTP_PORT (health and metrics when set), KM0_HTTP_HOST, KM0_LOG_LEVEL.
`

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  seed: { type: 'string', default: '1' },
  products: { type: 'string', default: '120' },
  'per-second': { type: 'string', default: '70' },
  campaign: { type: 'string', multiple: true },
  recall: { type: 'string', multiple: true },
  calm: { type: 'boolean', default: false },
  'late-replica-ms': { type: 'string', default: '0' },
  partitions: { type: 'string' },
  'catch-up-minutes': { type: 'string', default: '0' },
  state: { type: 'string' },
  'start-ms': { type: 'string' },
  'duration-s': { type: 'string' },
  print: { type: 'boolean', default: false },
} as const

/** Reads the arguments after the program's name. Throws a UsageError. */
export function parseStockCommand(args: readonly string[]): StockCommand {
  const values = parseValues(args)
  if (values.help) return { kind: 'help' }
  const start = values['start-ms']
  const duration = values['duration-s']
  if ((start === undefined) !== (duration === undefined)) throw new UsageError('--start-ms and --duration-s go together')
  return {
    kind: 'run',
    seed: integer('seed', values.seed, 0, 0xffff_ffff),
    products: integer('products', values.products, 1, 10_000),
    perSecond: integer('per-second', values['per-second'], 1, 5_000),
    oddities: !values.calm,
    campaigns: !values.calm,
    forced: (values.campaign ?? []).map(campaign),
    recalls: (values.recall ?? []).map(recall),
    lateReplicaMs: integer('late-replica-ms', values['late-replica-ms'], 0, 3_600_000),
    partitions: values.partitions === undefined ? null : values.partitions.split(',').map((text) => integer('partitions', text, 0, 10_000)),
    catchUpMinutes: integer('catch-up-minutes', values['catch-up-minutes'], 0, 7 * 24 * 60),
    statePath: values.state ?? null,
    span:
      start === undefined || duration === undefined
        ? null
        : {
            startMs: integer('start-ms', start, 0, Number.MAX_SAFE_INTEGER),
            durationMs: integer('duration-s', duration, 1, 8 * 86_400) * 1000,
          },
    print: values.print,
  }
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function campaign(text: string): { atS: number; lastsS: number } {
  const [, lasts, at] = /^(\d+)(?:@(\d+))?$/.exec(text) ?? []
  if (lasts === undefined) throw new UsageError(`--campaign ${text}: write SECONDS[@AT]`)
  return { lastsS: integer('campaign', lasts, 60, 86_400), atS: Number(at ?? 0) }
}

function recall(text: string): { atS: number; shelves: number } {
  const [, shelves, at] = /^(\d+)(?:@(\d+))?$/.exec(text) ?? []
  if (shelves === undefined) throw new UsageError(`--recall ${text}: write SHELVES[@AT]`)
  return { shelves: integer('recall', shelves, 1, 10_000), atS: Number(at ?? 0) }
}

function integer(name: string, text: string, least: number, greatest: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > greatest) {
    throw new UsageError(`--${name} ${text}: an integer from ${least} to ${greatest}`)
  }
  return value
}
