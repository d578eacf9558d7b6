import type { JOB_KINDS } from '@km0/contracts/backfill-payload'
import { type QueueClient, QueueTimeoutError } from '@km0/transport/queue'
import { Refusal } from '../guard.ts'

/** Longest wait for a worker's answer. A preview of a month looks at a list of files and at counts, not at rows. */
const ANSWER_MS = 60_000

/** Asks a batch worker and waits for its answer. What it refuses is told in its words; that none answers says what to do. */
export async function askWorker(
  queue: Pick<QueueClient, 'call'>,
  kind: (typeof JOB_KINDS)[keyof typeof JOB_KINDS],
  payload: object,
): Promise<unknown> {
  try {
    return await queue.call(kind, payload, ANSWER_MS)
  } catch (error) {
    if (error instanceof QueueTimeoutError) {
      throw new Refusal(
        503,
        `no batch worker has answered within ${ANSWER_MS / 1000} s`,
        'Look at the part "batch" of GET /api/health; with a long queue, ask again later.',
      )
    }
    throw new Refusal(409, error instanceof Error ? error.message : String(error), 'GET /api/backfills shows what is there.')
  }
}
