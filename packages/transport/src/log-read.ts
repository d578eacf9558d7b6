import { LogUnavailableError } from './log-errors.ts'
import { type LogRecord, toOffset } from './log-record.ts'
import { type LogClient, type TailHandle, tailTopic } from './log-tail.ts'

export interface ReadOptions {
  readonly topic: string
  /** Next offset of each partition; absent: the log's start. */
  readonly from?: ReadonlyMap<number, number>
  /** Offset after the last one wanted, of each partition; absent: the end as it is now. */
  readonly until?: ReadonlyMap<number, number>
  /** Give up when nothing arrives for so long. Default 30 s. */
  readonly idleTimeoutMs?: number
}

export interface ReadBatch {
  readonly partition: number
  readonly records: readonly LogRecord[]
}

type Step = { readonly batch: ReadBatch } | { readonly error: Error } | { readonly end: true }

/**
 * Reads a topic up to an end that is fixed at the start. Yields batches, each of one partition, in its order; partitions interleave in
 * any way. A broker that is away for a while is waited for; throws LogUnavailableError when nothing arrives for `idleTimeoutMs`.
 */
export async function* readTopic(client: LogClient, options: ReadOptions): AsyncGenerator<ReadBatch> {
  const until = options.until ?? (await endOffsets(client, options.topic))
  const handoff = new Handoff(options.idleTimeoutMs ?? 30_000)
  const isPast = (offsets: ReadonlyMap<number, number>) => [...until].every(([partition, end]) => (offsets.get(partition) ?? 0) >= end)
  let tail: TailHandle | undefined
  try {
    tail = await tailTopic(client, {
      topic: options.topic,
      from: options.from ?? 'start',
      onBatch: async (records, partition) => {
        const end = until.get(partition) ?? 0
        const wanted = records.filter((record) => record.offset < end)
        if (wanted.length > 0) await handoff.give({ batch: { partition, records: wanted } })
        if (tail !== undefined && isPast(afterBatch(tail.nextOffsets(), records, partition))) handoff.finish()
      },
      onCaughtUp: () => handoff.finish(),
      // The reader goes on trying: a broker that has just started answers that its coordinator is loading.
      onTrouble: (error) => handoff.trouble(error),
      onError: (error) => handoff.fail(error),
    })
    if (isPast(tail.nextOffsets())) handoff.finish()
    for (;;) {
      const step = await handoff.take()
      if ('end' in step) return
      if ('error' in step) throw step.error
      yield step.batch
    }
  } finally {
    handoff.finish()
    await tail?.close()
  }
}

function afterBatch(offsets: ReadonlyMap<number, number>, records: readonly LogRecord[], partition: number): Map<number, number> {
  const last = records.at(-1)
  return last === undefined ? new Map(offsets) : new Map(offsets).set(partition, last.offset + 1)
}

/** Offset after the newest record of each partition. */
export async function endOffsets(client: LogClient, topic: string): Promise<Map<number, number>> {
  const bounds = await client.withAdmin((admin) => admin.fetchTopicOffsets(topic))
  return new Map(bounds.map(({ partition, high }) => [partition, toOffset(high)]))
}

/** Offset of the oldest record that is still there, of each partition. */
export async function startOffsets(client: LogClient, topic: string): Promise<Map<number, number>> {
  const bounds = await client.withAdmin((admin) => admin.fetchTopicOffsets(topic))
  return new Map(bounds.map(({ partition, low }) => [partition, toOffset(low)]))
}

/** Offset of the first record of each partition whose timestamp is `timestampMs` or later; the end where there is none. */
export async function offsetsAt(client: LogClient, topic: string, timestampMs: number): Promise<Map<number, number>> {
  // Below 0 the broker takes a number for a name of a place (-1: the end).
  const places = await client.withAdmin((admin) => admin.fetchTopicOffsetsByTimestamp(topic, Math.max(0, timestampMs)))
  return new Map(places.map(({ partition, offset }) => [partition, toOffset(offset)]))
}

/** Hands one batch at a time from the reader to the iterator; the reader waits until it is taken. */
class Handoff {
  readonly #idleTimeoutMs: number
  readonly #steps: Step[] = []
  #wake: (() => void) | undefined
  #taken: (() => void) | undefined
  #finished = false
  #trouble: Error | undefined

  constructor(idleTimeoutMs: number) {
    this.#idleTimeoutMs = idleTimeoutMs
  }

  give(step: Step): Promise<void> {
    if (this.#finished) return Promise.resolve()
    this.#steps.push(step)
    this.#wake?.()
    return new Promise((resolve) => {
      this.#taken = resolve
    })
  }

  /** Remembers why nothing arrives, for whoever is told so in the end. */
  trouble(error: Error): void {
    this.#trouble = error
  }

  fail(error: Error): void {
    this.#steps.push({ error })
    this.#wake?.()
  }

  finish(): void {
    if (this.#finished) return
    this.#finished = true
    this.#steps.push({ end: true })
    this.#wake?.()
    this.#taken?.()
  }

  async take(): Promise<Step> {
    this.#taken?.()
    this.#taken = undefined
    if (this.#steps.length === 0) await this.#arrival()
    return this.#steps.shift() ?? { error: new Error('the reader woke up for nothing') }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const why = this.#trouble === undefined ? '' : `: ${this.#trouble.message}`
        this.fail(new LogUnavailableError(`nothing arrived from the log for ${this.#idleTimeoutMs} ms${why}`))
      }, this.#idleTimeoutMs)
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
    })
  }
}
