import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import { type Log, openLog } from '@km0/transport'
import { findBrokers } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import { type LetterFilter, readDeadLetters } from './dead-letters-read.ts'
import { type DeadLetter, type Repaired, repairLetter } from './dead-letters-repair.ts'
import { instantOf } from './lake-open.ts'
import { asTable } from './lake-sql.ts'
import { pipelineRules } from './pipeline-rules.ts'

const SEND_RECORDS = 5_000
const SELECT_HELP = `  --van NAME, --reason invalid|futur|antic|…, --from TIME, --to TIME (arrival), --offset N   which; all that are given must fit
  Takes KAFKA_BROKERS, or the platform that \`npm start\` runs here.`
const text = { type: 'string' } as const
const SELECT = { van: text, reason: text, from: text, to: text, offset: text } as const

interface Selection {
  readonly van?: string | undefined
  readonly reason?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly offset?: string | undefined
}

function filterOf({ van, reason, from, to, offset }: Selection): LetterFilter {
  return {
    van,
    reason,
    fromMs: from === undefined ? undefined : instantOf('from', from),
    toMs: to === undefined ? undefined : instantOf('to', to),
    offset: offset === undefined ? undefined : integerOf('offset', offset),
  }
}

function integerOf(option: string, given: string): number {
  if (!/^-?\d{1,15}$/.test(given)) throw new CommandError(`--${option} ${given}: a whole number`)
  return Number(given)
}

const withLog = <T>(use: (log: Log) => Promise<T>): Promise<T> => use(openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' }))

export const deadLettersList: Command = {
  words: ['dead-letters', 'list'],
  summary: 'refused positions by reason and van, and how far their clocks are off',
  help: `km0 dead-letters list [--json] [selection]

  One line for each reason and van: how many, when they came, and by how much their event time is ahead of their arrival (median, in ms: what
  --shift-clock would have to take away).
${SELECT_HELP}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { ...SELECT, json: { type: 'boolean', default: false } } })
    const groups = groupsOf(await withLog((log) => readDeadLetters(log, filterOf(values))))
    if (values.json) process.stdout.write(`${JSON.stringify(groups, null, 2)}\n`)
    else process.stdout.write(groups.length === 0 ? 'no dead letter fits\n' : groupsText(groups))
    return 0
  },
}

interface Group {
  readonly reason: string
  readonly van: string | null
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
  /** Median of event time − arrival; null when no event time is known. */
  readonly aheadMs: number | null
  /** Letters whose original can still be read. */
  readonly readable: number
}

function groupsOf(letters: readonly DeadLetter[]): Group[] {
  const groups = new Map<string, DeadLetter[]>()
  for (const letter of letters) {
    const key = JSON.stringify([letter.reason, letter.van])
    groups.set(key, [...(groups.get(key) ?? []), letter])
  }
  return [...groups.values()].map((of): Group => {
    const ahead = of.flatMap(({ eventMs, arrivalMs }) => (eventMs === null ? [] : [eventMs - arrivalMs])).sort((a, b) => a - b)
    const arrivals = of.map(({ arrivalMs }) => arrivalMs)
    const [first] = of
    return {
      reason: first?.reason ?? '',
      van: first?.van ?? null,
      count: of.length,
      firstMs: Math.min(...arrivals),
      lastMs: Math.max(...arrivals),
      aheadMs: ahead[Math.floor(ahead.length / 2)] ?? null,
      readable: of.filter((letter) => letter.text !== null).length,
    }
  })
}

const iso = (ms: number) => new Date(ms).toISOString()

function groupsText(groups: readonly Group[]): string {
  return asTable({
    columns: ['reason', 'van', 'count', 'first arrival', 'last arrival', 'ahead by ms', 'original there'],
    rows: groups.map(({ reason, van, count, firstMs, lastMs, aheadMs, readable }) => [
      ...[reason, van, String(count), iso(firstMs), iso(lastMs)],
      ...[aheadMs === null ? null : String(aheadMs), String(readable)],
    ]),
  })
}

export const deadLettersShow: Command = {
  words: ['dead-letters', 'show'],
  summary: 'refused positions one by one, with what they were',
  help: `km0 dead-letters show [selection]

  One JSON object a line: offset of the dead letter, reason, arrival, van, event time, and the original text (or why there is none).
${SELECT_HELP}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: SELECT })
    for (const letter of await withLog((log) => readDeadLetters(log, filterOf(values)))) {
      const { offset, reason, arrivalMs, van, eventMs, text: original, missing } = letter
      const shown = { offset, reason, arrival: iso(arrivalMs), van, eventMs, ...(missing === null ? { original } : { missing }) }
      process.stdout.write(`${JSON.stringify(shown)}\n`)
    }
    return 0
  },
}

export const deadLettersResubmit: Command = {
  words: ['dead-letters', 'resubmit'],
  summary: 'put refused positions right and give them to the log again',
  help: `km0 dead-letters resubmit [--shift-clock MS] [--by NAME] [--yes] [selection]

  Without --yes nothing is sent: says how many would be accepted, and why the others would not.
  --shift-clock MS  is added to the event time: -3600000 for a clock that was an hour ahead
  --by NAME         who does it; default: the user of this machine
  With --yes each that would be accepted enters the topic of positions as a new record, marked as repaired, by whom and when, with the arrival
  time of the original. The lake takes it. Live treats it as what it is, mostly late: \`km0 dirty\` shows the hours that a backfill mends.
  Sent twice it is a duplicate, and changes nothing.
${SELECT_HELP}`,
  run: async (args) => {
    const options = { ...SELECT, 'shift-clock': text, by: text, yes: { type: 'boolean', default: false } } as const
    const { values } = parseArgs({ args: withNegative(args, '--shift-clock'), options })
    const filter = filterOf(values)
    if (Object.values(filter).every((part) => part === undefined))
      throw new CommandError('say which: at least one of --van, --reason, --from, --to, --offset')
    const by = values.by ?? userInfo().username
    if (!/^[^\p{Cc}]{1,64}$/u.test(by)) throw new CommandError('--by: 1 to 64 characters')
    const shiftMs = values['shift-clock'] === undefined ? 0 : integerOf('shift-clock', values['shift-clock'])
    return withLog(async (log) => {
      const letters = await readDeadLetters(log, filter)
      const repair = { shiftMs, rules: pipelineRules('km0'), by, atMs: Date.now() }
      const repaired = letters.map((letter) => repairLetter(letter, repair))
      process.stdout.write(verdict(repaired, values.yes))
      if (values.yes) await send(log, repaired)
      return repaired.some((one) => 'record' in one) || letters.length === 0 ? 0 : 1
    })
  },
}

/** node:util takes a value that begins with `-` for an option, unless it is joined to its name. */
function withNegative(args: readonly string[], option: string): string[] {
  const at = args.indexOf(option)
  const value = args[at + 1]
  if (at < 0 || value === undefined || !/^-\d/.test(value)) return [...args]
  return [...args.slice(0, at), `${option}=${value}`, ...args.slice(at + 2)]
}

function verdict(repaired: readonly Repaired[], isSent: boolean): string {
  const accepted = repaired.flatMap((one) => ('record' in one ? [one] : []))
  const refusals = new Map<string, number>()
  for (const one of repaired) if ('refused' in one) refusals.set(one.refused, (refusals.get(one.refused) ?? 0) + 1)
  const lines = [`${repaired.length} dead letters fit`]
  if (accepted.length > 0) {
    const times = accepted.map(({ eventMs }) => eventMs)
    const vans = new Set(accepted.map(({ van }) => van)).size
    const span = `${iso(Math.min(...times))} to ${iso(Math.max(...times))}`
    lines.push(`${accepted.length} ${isSent ? 'are sent' : 'would be accepted'}: ${vans} vans, event time ${span}`)
  }
  for (const [reason, count] of refusals) lines.push(`${count} ${isSent ? 'are not sent' : 'would be refused again'}: ${reason}`)
  if (!isSent && accepted.length > 0) lines.push('nothing was sent; --yes sends them')
  return `${lines.join('\n')}\n`
}

async function send(log: Log, repaired: readonly Repaired[]): Promise<void> {
  const records = repaired.flatMap((one) => ('record' in one ? [one.record] : []))
  const producer = await log.openProducer()
  try {
    for (let start = 0; start < records.length; start += SEND_RECORDS) await producer.send(records.slice(start, start + SEND_RECORDS))
  } finally {
    await producer.close()
  }
}
