import type { OutRecord } from '@km0/transport'
import { MergeMemory } from './merge-memory.ts'

/** Tells the broker of one delivery that Kafka has it. */
export interface Acknowledger {
  readonly connection: number
  /** False when the connection is gone. */
  acknowledge(): boolean
}

/** One thing to be written: what became of a message, or records of the bridge's own. */
export interface QueueItem {
  /** Twins have equal keys; null for records of the bridge's own. */
  readonly key: string | null
  /** Written together, in order. None: the item only waits for its turn. */
  records: readonly OutRecord[]
  /** Makes the records when the item's turn comes, where they could not be known before. */
  readonly produce?: () => readonly OutRecord[]
  readonly topic: string
  /** Original bytes, for the dead letters in case Kafka refuses the record. */
  readonly payload: Buffer
  readonly bytes: number
  /** Machine's clock. */
  readonly receivedAtMs: number
  /** One for each delivery of it on the newest connection that brought it. */
  acknowledgers: Acknowledger[]
}

export interface QueueLimits {
  readonly maxMessages: number
  readonly maxBytes: number
  /** Acknowledged messages whose twins are known. */
  readonly rememberedMessages: number
}

export type Offer = 'new' | 'merged' | 'acknowledged'

/**
 * What was received and is not yet in Kafka, in order of arrival. A message is in one of four states:
 *
 *   waiting → in flight (one batch at a time, the same one until Kafka has it) → remembered (its twins are acknowledged at once) → forgotten
 *
 * A redelivery finds its twin in the first three and becomes one more acknowledgement of it. The queue outlives connections: the broker
 * may have lost the session, and then these are the only copies. It is bounded in messages and bytes; `full` says that the one who
 * fills it must wait. It takes what it is given even then, as the broker has already sent it.
 */
export class IntakeQueue {
  readonly #limits: QueueLimits
  /** From `#head` on; what is before it has been taken. */
  #waiting: QueueItem[] = []
  #head = 0
  readonly #byKey = new Map<string, QueueItem>()
  readonly #memory: MergeMemory
  #inFlight: readonly QueueItem[] = []
  #bytes = 0
  #wake: (() => void) | null = null

  constructor(limits: QueueLimits) {
    this.#limits = limits
    this.#memory = new MergeMemory(limits.rememberedMessages)
  }

  get messages(): number {
    return this.#waiting.length - this.#head + this.#inFlight.length
  }

  get bytes(): number {
    return this.#bytes
  }

  get full(): boolean {
    return this.messages >= this.#limits.maxMessages || this.#bytes >= this.#limits.maxBytes
  }

  /** When the oldest message came that Kafka has not acknowledged; null when there is none. */
  get oldestReceivedAtMs(): number | null {
    const oldest = this.#inFlight[0] ?? this.#waiting[this.#head]
    return oldest?.receivedAtMs ?? null
  }

  /**
   * A delivery has come. `acknowledged`: its twin is in Kafka, and the broker was told. `merged`: its twin is on its way, and the broker
   * is told together with it. `new`: to be decoded and pushed.
   */
  offer(key: string, delivery: Acknowledger): Offer {
    const twin = this.#byKey.get(key)
    if (twin !== undefined) {
      // Those of a connection before are void, and would pile up over many reconnects.
      const older = twin.acknowledgers[0]?.connection !== delivery.connection
      twin.acknowledgers = older ? [delivery] : [...twin.acknowledgers, delivery]
      return 'merged'
    }
    if (!this.#memory.has(key)) return 'new'
    delivery.acknowledge()
    return 'acknowledged'
  }

  push(item: QueueItem): void {
    this.#waiting.push(item)
    if (item.key !== null) this.#byKey.set(item.key, item)
    this.#bytes += item.bytes
    this.#wake?.()
  }

  /** Gives records that came before the clock was known their timestamp. */
  stamp(timestampMs: number): void {
    for (const item of this.#waiting.slice(this.#head)) {
      item.records = item.records.map((record) => (record.timestampMs === undefined ? { ...record, timestampMs } : record))
    }
  }

  /** Resolves when there is something to take, or `stopWaiting` was called. */
  async somethingWaits(): Promise<void> {
    if (this.#waiting.length > this.#head) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = null
  }

  stopWaiting(): void {
    this.#wake?.()
  }

  /**
   * Takes the next items in order, at least one, as far as they fit into `maxRecords` and `maxBytes`, and puts them in flight.
   * Throws when the batch before was not settled.
   */
  takeBatch(maxRecords: number, maxBytes: number): readonly QueueItem[] {
    if (this.#inFlight.length > 0) throw new Error('a batch is in flight already')
    const batch: QueueItem[] = []
    let records = 0
    let bytes = 0
    for (let item = this.#waiting[this.#head]; item !== undefined; item = this.#waiting[this.#head]) {
      if (item.produce !== undefined && item.records.length === 0) item.records = item.produce()
      records += item.records.length
      bytes += item.bytes
      if (batch.length > 0 && (records > maxRecords || bytes > maxBytes)) break
      batch.push(item)
      this.#head += 1
    }
    if (this.#head > this.#waiting.length / 2) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
    this.#inFlight = batch
    return batch
  }

  /** Kafka has the batch in flight: tells the broker, in order, and remembers. Returns how many acknowledgements went out. */
  settle(): number {
    let sent = 0
    for (const item of this.#inFlight) {
      this.#bytes -= item.bytes
      if (item.key !== null) {
        this.#byKey.delete(item.key)
        this.#memory.add(item.key)
      }
      for (const delivery of item.acknowledgers) if (delivery.acknowledge()) sent += 1
    }
    this.#inFlight = []
    return sent
  }
}
