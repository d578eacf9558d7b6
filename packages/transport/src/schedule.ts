import { Queue } from 'bullmq'
import { connectionOf } from './queue-connection.ts'

/** When a job is wanted again and again: at a time of day of a time zone, or every so many milliseconds. */
export type Schedule = { readonly cron: string; readonly timeZone: string } | { readonly everyMs: number }

/** The schedules of a queue, by id, as Redis has them. Rejects while Redis is away. */
export async function readSchedules(options: {
  readonly redisUrl: string
  readonly queue: string
}): Promise<Readonly<Record<string, Schedule>>> {
  return withQueue(options, async (queue) => {
    const found = await queue.getJobSchedulers()
    return Object.fromEntries(
      found.map(({ key = '', pattern, tz, every }): [string, Schedule] => [
        key,
        pattern === undefined || pattern === null ? { everyMs: Number(every) } : { cron: pattern, timeZone: tz ?? 'UTC' },
      ]),
    )
  })
}

/**
 * Makes `schedules`, by id, those of a queue, each adding jobs of its kind; ones that were there before are replaced or taken away. They live in
 * Redis: where it has lost them, call this again. Rejects while Redis is away.
 */
export async function setSchedules(
  options: { readonly redisUrl: string; readonly queue: string },
  schedules: Readonly<Record<string, { readonly kind: string; readonly schedule: Schedule }>>,
): Promise<void> {
  await withQueue(options, async (queue) => {
    for (const known of await queue.getJobSchedulers()) {
      if (known.key !== undefined && !Object.hasOwn(schedules, known.key)) await queue.removeJobScheduler(known.key)
    }
    for (const [id, { kind, schedule }] of Object.entries(schedules)) {
      const repeat = 'cron' in schedule ? { pattern: schedule.cron, tz: schedule.timeZone } : { every: schedule.everyMs }
      await queue.upsertJobScheduler(id, repeat, { name: kind, opts: { removeOnComplete: true, removeOnFail: true } })
    }
  })
}

/** How long until schedules are said again that Redis did not take. */
const SAID_AGAIN_AFTER_MS = 5_000

/**
 * `setSchedules`, said again until Redis takes it; `onError` hears why it did not. Resolves after the first try to what stops it.
 */
export async function keepSchedules(
  options: { readonly redisUrl: string; readonly queue: string; readonly onError: (error: unknown) => void },
  schedules: Parameters<typeof setSchedules>[1],
): Promise<{ close(): void }> {
  let timer: NodeJS.Timeout | undefined
  let closing = false
  const say = async (): Promise<void> => {
    try {
      await setSchedules(options, schedules)
    } catch (error) {
      options.onError(error)
      if (!closing) timer = setTimeout(() => void say(), SAID_AGAIN_AFTER_MS)
    }
  }
  await say()
  return {
    close: () => {
      closing = true
      clearTimeout(timer)
    },
  }
}

async function withQueue<T>(
  options: { readonly redisUrl: string; readonly queue: string },
  work: (queue: Queue) => Promise<T>,
): Promise<T> {
  const connection = connectionOf(options.redisUrl)
  // Told by the rejection of what was asked for.
  connection.on('error', () => undefined)
  const queue = new Queue(options.queue, { connection })
  queue.on('error', () => undefined)
  try {
    return await work(queue)
  } finally {
    await queue.close()
    connection.disconnect()
  }
}
