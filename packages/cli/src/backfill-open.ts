import { userInfo } from 'node:os'
import type { Actor, BackfillRequest } from '@km0/contracts'
import { backfillRequest } from '@km0/contracts/backfill-payload'
import { QUEUES } from '@km0/contracts/queues'
import { BackfillRefusedError, type Backfills, openBackfills, ServingUnavailableError } from '@km0/serving'
import { openQueue, type QueueClient, QueueTimeoutError } from '@km0/transport/queue'
import { findDatabaseUrl, findRedisUrl } from './addresses.ts'
import { byMonth } from './backfill-months.ts'
import { CommandError } from './command.ts'
import { instantOf } from './lake-open.ts'
import { madridDayStartMs } from './madrid-day.ts'

export const BACKFILL_ADDRESS_HELP = 'Takes DATABASE_URL and REDIS_URL, or the platform that `npm start` runs here.'

const HOUR_MS = 3_600_000
/** A preview of a month reads its rows' times; a worker process may have to start first. */
const ANSWER_MS = 120_000

/** Opens the store of versions for `use`. What is refused, or away, becomes a CommandError. */
export async function withBackfills<T>(use: (store: Backfills) => Promise<T>): Promise<T> {
  const store = openBackfills({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli', maxConnections: 2 })
  try {
    return await use(store)
  } catch (error) {
    if (error instanceof BackfillRefusedError) throw new CommandError(error.message, { cause: error })
    if (error instanceof ServingUnavailableError)
      throw new CommandError(`PostgreSQL does not answer (${error.message}): start it, or set DATABASE_URL`, { cause: error })
    throw error
  } finally {
    await store.close()
  }
}

/** Asks the workers for something and gives their answer. What they refuse becomes a CommandError. */
export async function askWorkers(kind: string, payload: object): Promise<unknown> {
  let lost: Error | null = null
  const queue: QueueClient = openQueue({
    redisUrl: findRedisUrl(process.env),
    queue: QUEUES.backfills,
    onError: (error) => {
      lost = error
    },
  })
  try {
    return await queue.call(kind, payload, ANSWER_MS)
  } catch (error) {
    if (error instanceof QueueTimeoutError) {
      const why = lost === null ? 'is the batch program running? `/health` of the panel tells' : `the queue: ${(lost as Error).message}`
      throw new CommandError(`${error.message}: ${why}`, { cause: error })
    }
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error })
  } finally {
    await queue.close()
  }
}

export const REQUEST_OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  day: { type: 'string' },
  van: { type: 'string', multiple: true },
  stock: { type: 'boolean', default: false },
  market: { type: 'string', multiple: true },
} as const

export const REQUEST_HELP = `  --from TIME --to TIME   whole hours; a date alone is the beginning of that day in Madrid
  --day DATE              instead: that day of Madrid
  A range of more than 62 days is one version of each month.
  --van NAME …            only these vans; without it all
  --stock [--market NAME …]   alerts of low stock instead of distances and sessions`

export interface RequestValues {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly day?: string | undefined
  readonly van?: readonly string[] | undefined
  readonly stock: boolean
  readonly market?: readonly string[] | undefined
}

/** The backfill that the options ask for; a long one as one of each month. Throws CommandError. */
export function requestsOf(values: RequestValues): BackfillRequest[] {
  const { fromMs, toMs } = rangeOf(values)
  if (values.stock && values.van !== undefined) throw new CommandError('--van is of positions: with --stock say --market')
  if (!values.stock && values.market !== undefined) throw new CommandError('--market is of stock: say --stock too')
  const owners = (values.stock ? values.market : values.van) ?? null
  return byMonth({ pipeline: values.stock ? 'stock' : 'positions', fromMs, toMs, owners }).map(checked)
}

function checked(request: unknown): BackfillRequest {
  const parsed = backfillRequest.safeParse(request)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const names: Readonly<Record<string, string>> = { fromMs: '--from', toMs: '--to', owners: '--van' }
  throw new CommandError(`${names[String(issue?.path[0])] ?? 'the range'} ${issue?.message ?? 'does not fit'}`)
}

function rangeOf({ from, to, day }: RequestValues): { fromMs: number; toMs: number } {
  if (day !== undefined) {
    if (from !== undefined || to !== undefined) throw new CommandError('--day is a range already: leave --from and --to out')
    const fromMs = startOfDay('day', day)
    // The next day may begin 23, 24 or 25 hours later.
    return { fromMs, toMs: startOfDay('day', new Date(fromMs + 30 * HOUR_MS).toISOString().slice(0, 10)) }
  }
  if (from === undefined || to === undefined) throw new CommandError('say --day DATE, or --from TIME --to TIME')
  return { fromMs: timeOf('from', from), toMs: timeOf('to', to) }
}

const timeOf = (option: string, text: string) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? startOfDay(option, text) : instantOf(option, text))

function startOfDay(option: string, date: string): number {
  const ms = madridDayStartMs(date)
  if (ms === null) throw new CommandError(`--${option} ${date}: the calendar has no such day; write 2026-03-29`)
  return ms
}

/** Who gives the command: the user of this machine, unless somebody else is named. */
export function actorOf(by: string | undefined): Actor {
  const name = by ?? userInfo().username
  return { id: name, name, roles: ['terminal'] }
}

/** A number that names a version or publication. Throws CommandError. */
export function numberOf(text: string | undefined, what: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new CommandError(`say which ${what}: its number, as \`km0 backfill list\` shows it`)
  return Number(text)
}
