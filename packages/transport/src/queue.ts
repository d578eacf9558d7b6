import { type Job, Queue, QueueEvents, UnrecoverableError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { connectionOf } from './queue-connection.ts'

/** A job as a worker sees it. */
export interface QueuedJob {
  readonly id: string
  readonly kind: string
  readonly payload: unknown
  /** This is the last try: after it nobody takes the job again. */
  readonly isLastAttempt: boolean
  /** Tells how far it is, between 0 and 1. */
  progress(share: number): Promise<void>
}

export interface QueueWorker {
  /** True while the connection to Redis stands. */
  connected(): boolean
  /** Jobs that wait, run, have failed. Rejects while Redis is away. */
  counts(): Promise<Readonly<Record<string, number>>>
  /** Takes no further job, waits for the ones in work, disconnects. */
  close(): Promise<void>
}

/** Thrown by `work` for a job that will fail again however often it is tried. */
export class JobRefusedError extends UnrecoverableError {
  override readonly name = 'JobRefusedError'
}

export interface WorkerOptions {
  readonly redisUrl: string
  readonly queue: string
  readonly concurrency: number
  readonly work: (job: QueuedJob) => Promise<unknown>
  readonly onError: (error: Error) => void
  /** A worker that has not renewed its lock for so long has lost the job to another one. Default 30 s. */
  readonly lockMs?: number
  /** How often a job may be lost so. Default 1. */
  readonly maxLosses?: number
}

/**
 * Starts a worker of a queue. `work` resolves to the job's result, and rejects with an error that says what to do: it is kept with the job.
 * Resolves when the worker is connected. Connection errors afterwards go to `onError` and are mended by reconnecting.
 */
export async function startQueueWorker(options: WorkerOptions): Promise<QueueWorker> {
  const connection = connectionOf(options.redisUrl)
  const lockMs = options.lockMs ?? 30_000
  const worker = new Worker(
    options.queue,
    (job: Job) =>
      options.work({
        id: String(job.id),
        kind: job.name,
        payload: job.data as unknown,
        isLastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
        progress: (share) => job.updateProgress(share),
      }),
    {
      connection,
      concurrency: options.concurrency,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      maxStalledCount: options.maxLosses ?? 1,
    },
  )
  const queue = new Queue(options.queue, { connection })
  worker.on('error', options.onError)
  queue.on('error', options.onError)
  await worker.waitUntilReady()
  return {
    connected: () => connection.status === 'ready',
    counts: () => queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized'),
    close: async () => {
      await worker.close()
      await queue.close()
      // BullMQ leaves a connection open that it was given.
      connection.disconnect()
    },
  }
}

export interface AddOptions {
  /** Of two jobs with one id the second is not added while the first waits or runs. It holds no colon. */
  readonly id?: string
  /** Tries at all. Default 1. */
  readonly attempts?: number
  /** Time before the second try; doubled for each further one. Default 1 s. */
  readonly backoffMs?: number
  /** Lower comes first; without one a job comes before all that have one. */
  readonly priority?: number
}

/** Nobody has answered in time. */
export class QueueTimeoutError extends Error {
  override readonly name = 'QueueTimeoutError'
}

/** The other side of a queue: whoever wants something done. */
export interface QueueClient {
  add(kind: string, payload: object, options?: AddOptions): Promise<void>
  /** Adds a job and waits for its result. Rejects with the worker's message, or QueueTimeoutError when no worker has answered. */
  call(kind: string, payload: object, timeoutMs: number): Promise<unknown>
  close(): Promise<void>
}

const BACKOFF_MS = 1_000

/** Opens a queue for adding jobs. Connects at the first use; errors go to `onError` and are mended by reconnecting. */
export function openQueue(options: { redisUrl: string; queue: string; onError: (error: Error) => void }): QueueClient {
  const connection = connectionOf(options.redisUrl)
  connection.on('error', options.onError)
  const queue = new Queue(options.queue, { connection })
  queue.on('error', options.onError)
  let events: { readonly queueEvents: QueueEvents; readonly connection: Redis } | undefined
  const listening = async () => {
    if (events === undefined) {
      const own = connectionOf(options.redisUrl)
      own.on('error', options.onError)
      events = { queueEvents: new QueueEvents(options.queue, { connection: own }), connection: own }
      events.queueEvents.on('error', options.onError)
    }
    await events.queueEvents.waitUntilReady()
    return events.queueEvents
  }
  return {
    add: async (kind, payload, { id, attempts = 1, backoffMs = BACKOFF_MS, priority } = {}) => {
      await queue.add(kind, payload, {
        ...(id === undefined ? {} : { jobId: id }),
        ...(priority === undefined ? {} : { priority }),
        attempts,
        backoff: { type: 'exponential', delay: backoffMs },
        removeOnComplete: true,
        // What went wrong is kept where the job was asked for; the id is free again at once.
        removeOnFail: true,
      })
    },
    call: async (kind, payload, timeoutMs) => {
      const queueEvents = await listening()
      const job = await queue.add(kind, payload, { removeOnComplete: { age: 600 }, removeOnFail: { age: 600 } })
      try {
        return await job.waitUntilFinished(queueEvents, timeoutMs)
      } catch (error) {
        if (!(error instanceof Error) || !/timed out before finishing/.test(error.message)) throw error
        await job.remove().catch(() => undefined)
        throw new QueueTimeoutError(`no answer within ${timeoutMs / 1000} s`)
      }
    },
    close: async () => {
      await events?.queueEvents.close()
      events?.connection.disconnect()
      await queue.close()
      connection.disconnect()
    },
  }
}
