import { type Job, Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'

/** A job as a worker sees it. */
export interface QueuedJob {
  readonly id: string
  readonly kind: string
  readonly payload: unknown
  /** Tells how far it is, between 0 and 1. */
  progress(share: number): Promise<void>
}

export interface QueueWorker {
  /** True while the connection to Redis stands. */
  connected(): boolean
  /** Jobs that wait, run, have failed. Rejects while Redis is away. */
  counts(): Promise<Readonly<Record<string, number>>>
  /** Takes no further job, waits for the one in work, disconnects. */
  close(): Promise<void>
}

/** BullMQ's workers need a connection that never gives up on a command. As an ES module BullMQ cannot load the client by itself. */
const connectionOf = (redisUrl: string) => new Redis(redisUrl, { maxRetriesPerRequest: null })

/**
 * Starts a worker of a queue. `work` resolves to the job's result, and rejects with an error that says what to do: it is kept with the job.
 * Resolves when the worker is connected. Connection errors afterwards go to `onError` and are mended by reconnecting.
 */
export async function startQueueWorker(options: {
  redisUrl: string
  queue: string
  concurrency: number
  work: (job: QueuedJob) => Promise<unknown>
  onError: (error: Error) => void
}): Promise<QueueWorker> {
  const connection = connectionOf(options.redisUrl)
  const worker = new Worker(
    options.queue,
    (job: Job) =>
      options.work({ id: String(job.id), kind: job.name, payload: job.data as unknown, progress: (share) => job.updateProgress(share) }),
    { connection, concurrency: options.concurrency },
  )
  const queue = new Queue(options.queue, { connection })
  worker.on('error', options.onError)
  queue.on('error', options.onError)
  await worker.waitUntilReady()
  return {
    connected: () => connection.status === 'ready',
    counts: () => queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    close: async () => {
      await worker.close()
      await queue.close()
      // BullMQ leaves a connection open that it was given.
      connection.disconnect()
    },
  }
}
