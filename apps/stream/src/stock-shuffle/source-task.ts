import { type ClockSettings, TOPICS } from '@km0/contracts'
import { type ShuffleOutput, ShuffleTask } from '@km0/pipelines'
import { isValueUtf8, type Log, type LogRecord, type OutRecord, type TransactionalProducer, valueBytes, valueText } from '@km0/transport'
import { settledPlace } from '../settled-place.ts'
import { decodePlace, encodePlace } from './place.ts'
import { recordsOf } from './shuffled-records.ts'

export const SHUFFLE_GROUP = 'km0-stock-shuffle'
const SOURCE = TOPICS.stockEvents.name

export interface SourceTaskOptions {
  readonly log: Log
  readonly partition: number
  readonly epoch: number
  readonly settings: ClockSettings
  readonly limits: { readonly maxFutureMs: number; readonly maxAgeMs: number }
  /** Partitions of the shuffle's topic. */
  readonly targets: number
  /** Records of the source that retention deleted before they were read. */
  readonly onHole: (records: number) => void
  /** There was an offset, but no state beside it. */
  readonly onLostState: () => void
}

/** Flags of each record of a slice, in order. */
export type Applied = readonly number[]

/**
 * The shuffle's work on one source partition, and its place in the log. Everything it writes is a transaction with the place after it, under
 * an id of this source partition: opening the id again ends whoever worked on the partition before, and only then is the place read. So two
 * owners never write side by side. What is written is written once, but for the rare case that the broker, killed or busy, tells the place
 * before the last one: the windows drop what they have seen. After an error the task is spent.
 *
 * Calls wait for each other.
 */
export class SourceTask {
  readonly partition: number
  readonly #options: SourceTaskOptions
  readonly #producer: TransactionalProducer
  readonly #task: ShuffleTask
  #nextOffset: number
  /** Source partitions that the targets know of. */
  #sources: number
  #tail: Promise<unknown> = Promise.resolve()
  /** Machine times: of the newest record or trouble, of the last heartbeat, of the last time that the targets were told anything. */
  #busyAtMs = Date.now()
  #beatAtMs = 0
  #toldAtMs = 0

  private constructor(options: SourceTaskOptions, producer: TransactionalProducer, task: ShuffleTask, nextOffset: number, sources: number) {
    this.partition = options.partition
    this.#options = options
    this.#producer = producer
    this.#task = task
    this.#nextOffset = nextOffset
    this.#sources = sources
  }

  /** Takes the source partition over from whoever had it. Rejects with an error of the log, or when the log contradicts the place. */
  static async open(options: SourceTaskOptions): Promise<SourceTask> {
    const { log, partition } = options
    const producer = await log.openTransactionalProducer({ transactionalId: `${SHUFFLE_GROUP}-${partition}` })
    try {
      return await SourceTask.#restored(options, producer)
    } catch (error) {
      await producer.close().catch(() => undefined)
      throw error
    }
  }

  static async #restored(options: SourceTaskOptions, producer: TransactionalProducer): Promise<SourceTask> {
    const { log, partition, targets, limits } = options
    const committed = await settledPlace(log, SHUFFLE_GROUP, SOURCE, partition)
    const place = decodePlace(committed?.metadata ?? null)
    if (committed !== undefined && place === null) options.onLostState()
    if (place !== null && place.targets !== targets) {
      throw new Error(
        `${TOPICS.stockShuffled.name} has ${targets} partitions, but had ${place.targets}: products would change their place. ` +
          'Give it back its number, or begin a new log of stock: `pnpm km0 stock restart`.',
      )
    }
    const nextOffset = await whereToGoOn(options, committed?.nextOffset ?? null)
    // A number that grows even when the state was lost: own records are told apart by it.
    const task = new ShuffleTask(limits, Date.now())
    if (place !== null) task.restore(place.task)
    const opened = new SourceTask(options, producer, task, nextOffset, place?.sources ?? 0)
    // Written to every target whether they know it or not: a broker that was killed just after a commit may have left that transaction open
    // in some of them, and readers would wait for its end for ever. The next transaction under the same id ends it.
    await opened.tellSettings((await log.endOffsets(SOURCE)).size, true)
    return opened
  }

  get nextOffset(): number {
    return this.#nextOffset
  }

  get watermarkMs(): number {
    return this.#task.watermarkMs
  }

  get sources(): number {
    return this.#sources
  }

  /** Applies records of the source, in one transaction with the place after them. */
  apply(records: readonly LogRecord[], nextOffset: number, markEveryMs: number): Promise<Applied> {
    return this.#alone(async () => {
      const written: OutRecord[] = []
      const flags = records.map((record) => {
        if (record.offset < this.#nextOffset) return 0
        const out: ShuffleOutput[] = []
        const flag = applyOne(this.#task, record, out)
        written.push(...this.#records(out, record))
        return flag
      })
      if (Date.now() - this.#toldAtMs >= markEveryMs) written.push(...this.#mark())
      await this.#write(written, Math.max(nextOffset, this.#nextOffset))
      this.#busyAtMs = Date.now()
      return flags
    })
  }

  /** The source goes on at `nextOffset` without a record to show. */
  skipTo(nextOffset: number): void {
    void this.#alone(async () => {
      this.#nextOffset = Math.max(this.#nextOffset, nextOffset)
    })
  }

  /** Tells the targets how far the source has come, when they do not know and were told nothing for `everyMs`. Returns whether it did. */
  mark(everyMs: number): Promise<boolean> {
    return this.#alone(async () => {
      if (Date.now() - this.#toldAtMs < everyMs) return false
      const written = this.#mark()
      if (written.length === 0) return false
      await this.#write(written, this.#nextOffset)
      return true
    })
  }

  /** The log was away: those who write the source may have a backlog, so silence is counted from now. */
  disturb(): void {
    this.#busyAtMs = Date.now()
  }

  /** Whether nothing has come for `idleMs`, and no heartbeat was written in that time. */
  isQuiet(idleMs: number): boolean {
    return Date.now() - Math.max(this.#busyAtMs, this.#beatAtMs) >= idleMs
  }

  /** A heartbeat, unless there is something to read before `endOffset`, or something came meanwhile. Returns whether it was written. */
  beat(endOffset: number, idleMs: number): Promise<boolean> {
    return this.#alone(async () => {
      if (endOffset > this.#nextOffset || !this.isQuiet(idleMs)) return false
      const out: ShuffleOutput[] = []
      const nowMs = Date.now()
      this.#task.beat(nowMs, out)
      await this.#write(this.#records(out, null), this.#nextOffset)
      this.#beatAtMs = nowMs
      return true
    })
  }

  /** Tells the targets delay, allowed lateness and the number of source partitions, unless they know, or in any case. Returns whether it did. */
  tellSettings(sources: number, inAnyCase = false): Promise<boolean> {
    return this.#alone(async () => {
      const out: ShuffleOutput[] = []
      const more = sources > this.#sources
      this.#sources = Math.max(sources, this.#sources)
      const told = this.#task.configure(this.#options.settings, Date.now(), out)
      if (!told && (more || inAnyCase)) this.#task.repeatSettings(Date.now(), out)
      if (out.length > 0) await this.#write(this.#records(out, null), this.#nextOffset)
      return out.length > 0
    })
  }

  #mark(): OutRecord[] {
    const out: ShuffleOutput[] = []
    this.#task.mark(out)
    this.#toldAtMs = Date.now()
    return this.#records(out, null)
  }

  #records(out: readonly ShuffleOutput[], record: LogRecord | null): OutRecord[] {
    const { partition, epoch, targets } = this.#options
    return recordsOf(out, record, { partition, epoch, sources: this.#sources, targets })
  }

  async #write(records: readonly OutRecord[], nextOffset: number): Promise<void> {
    const metadata = encodePlace({ sources: this.#sources, targets: this.#options.targets, task: this.#task.snapshot() })
    await this.#producer.write(records, { groupId: SHUFFLE_GROUP, topic: SOURCE, partition: this.partition, nextOffset, metadata })
    this.#nextOffset = nextOffset
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work)
    this.#tail = done.catch(() => undefined)
    return done
  }

  async close(): Promise<void> {
    await this.#tail
    await this.#producer.close()
  }
}

function applyOne(task: ShuffleTask, record: LogRecord, out: ShuffleOutput[]): number {
  const text = valueText(record)
  return task.onRecord(record.offset, record.timestampMs, text, valueBytes(record), isValueUtf8(record, text), out)
}

async function whereToGoOn({ log, partition, onHole }: SourceTaskOptions, committed: number | null): Promise<number> {
  const start = (await log.startOffsets(SOURCE)).get(partition) ?? 0
  if (committed === null) return start
  const end = (await log.endOffsets(SOURCE)).get(partition) ?? 0
  if (committed > end) {
    throw new Error(
      `partition ${partition} of ${SOURCE} ends at offset ${end}, but the shuffle was at ${committed}: the topic was replaced. ` +
        'Begin a new log of stock: `pnpm km0 stock restart`.',
    )
  }
  if (committed < start) onHole(start - committed)
  return Math.max(committed, start)
}
