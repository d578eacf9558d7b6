import { LogFencedError, LogRefusedError, type OutRecord, RecordTooLargeError } from '@km0/transport'
import { deadLetter, type Refusal } from './dead-letter.ts'
import type { IntakeQueue, QueueItem } from './intake-queue.ts'

/** What the forwarder needs of a Kafka producer. */
export interface RecordSender {
  send(records: readonly OutRecord[]): Promise<void>
  close(): Promise<void>
}

export interface ForwarderSettings {
  readonly maxBatchRecords: number
  /** Below the largest record batch of the broker: all of a batch may go to one partition. */
  readonly maxBatchBytes: number
  readonly retryMinMs: number
  readonly retryMaxMs: number
  /** Asked before each attempt; while it is false nothing is sent. */
  readonly mayWrite: () => boolean
}

export interface ForwarderEvents {
  /** Kafka has a batch; so many PUBACKs went out. */
  onStored(records: number, acknowledged: number): void
  /** One attempt failed and is repeated. */
  onFailure(error: Error, attempt: number): void
  onRecovered(): void
  /** A record is refused by Kafka for good and went to the dead letters. */
  onRefused(refusal: Refusal): void
}

/** Refusals that are about the record itself; any other (rights, topic) may be mended and is tried again. */
const ABOUT_THE_RECORD = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP', 'INVALID_RECORD'])
const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])
/** A producer that fails this often in a row is replaced: its state at the broker may be what is wrong. */
const RENEW_AFTER_ATTEMPTS = 10

/** While writing is not permitted. */
const ASK_AGAIN_MS = 50

class Abandoned extends Error {}

/**
 * Moves the queue into Kafka: one batch in flight, the same batch again for ever, and only then the acknowledgements.
 *
 *   take a batch → send ─ written ──────────────────────────────→ settle → take …
 *                   ↑ │ ─ Kafka away: wait a little, same array ─┐
 *                   └─┴──────────────────────────────────────────┘
 *                     └─ refused for good: halves, down to the one record, which goes to the dead letters
 */
export class Forwarder {
  readonly #queue: IntakeQueue
  readonly #open: () => Promise<RecordSender>
  readonly #settings: ForwarderSettings
  readonly #events: ForwarderEvents
  #sender: RecordSender | null = null
  #failingSinceMs: number | null = null
  #unansweredSinceMs: number | null = null
  #outageEndedMs: number | null = null
  #draining = false
  #abandoned = false
  #interrupt: (() => void) | null = null

  /** `open` makes a producer; it may reject while Kafka is away. */
  constructor(queue: IntakeQueue, open: () => Promise<RecordSender>, settings: ForwarderSettings, events: ForwarderEvents) {
    this.#queue = queue
    this.#open = open
    this.#settings = settings
    this.#events = events
  }

  /** Since when no batch went through; null while Kafka answers. Machine's clock. */
  get failingSinceMs(): number | null {
    return this.#failingSinceMs
  }

  /** Since when a batch is on its way that Kafka has neither taken nor refused; null while none is. Machine's clock. */
  get unansweredSinceMs(): number | null {
    return this.#unansweredSinceMs
  }

  get outageEndedMs(): number | null {
    return this.#outageEndedMs
  }

  /** Runs until `drain` has emptied the queue, or it is abandoned. */
  async run(): Promise<void> {
    try {
      for (;;) {
        if (!this.#draining) await this.#queue.somethingWaits()
        const batch = this.#queue.takeBatch(this.#settings.maxBatchRecords, this.#settings.maxBatchBytes)
        if (batch.length === 0) {
          if (this.#draining) return
          continue
        }
        await this.#write(batch)
        const records = batch.reduce((sum, item) => sum + item.records.length, 0)
        this.#events.onStored(records, this.#queue.settle())
      }
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error
    } finally {
      await this.#sender?.close()
      this.#sender = null
    }
  }

  /** What is queued is still written, then `run` ends. */
  drain(): void {
    this.#draining = true
    this.#queue.stopWaiting()
  }

  /** Ends `run` after the attempt in hand, whatever is queued. */
  abandon(): void {
    this.#abandoned = true
    this.#interrupt?.()
    this.drain()
  }

  async #write(items: readonly QueueItem[]): Promise<void> {
    const records = items.flatMap((item) => item.records)
    const refusal = await this.#sendForever(records)
    if (refusal === null) return
    const [only, ...others] = items
    if (only === undefined) return
    if (others.length > 0) {
      const middle = Math.ceil(items.length / 2)
      await this.#write(items.slice(0, middle))
      await this.#write(items.slice(middle))
      return
    }
    this.#events.onRefused(refusal)
    const timestampMs = only.records[0]?.timestampMs ?? null
    // A time that Kafka refuses would be refused again.
    const letterMs = refusal.detail === 'INVALID_TIMESTAMP' ? null : timestampMs
    const letter = deadLetter(only.topic, only.payload, refusal, letterMs)
    // A dead letter that is itself refused: the topic's limit is below what it needs. What it says still counts.
    const again = await this.#sendForever([letter])
    if (again !== null) await this.#sendForever([deadLetter(only.topic, Buffer.alloc(0), refusal, null)])
  }

  /** Sends until Kafka has it (null), or refuses it for good. */
  async #sendForever(records: readonly OutRecord[]): Promise<Refusal | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#unansweredSinceMs ??= Date.now()
        this.#sender ??= await this.#open()
        await this.#permission()
        await this.#sender.send(records)
        this.#succeeded()
        return null
      } catch (error) {
        if (error instanceof Abandoned) throw error
        const refusal = refusalOf(error)
        if (refusal !== null) {
          this.#unansweredSinceMs = null
          return refusal
        }
        await this.#failed(error instanceof Error ? error : new Error(String(error)), attempt)
      }
    }
  }

  async #permission(): Promise<void> {
    for (;;) {
      if (this.#abandoned) throw new Abandoned()
      if (this.#settings.mayWrite()) return
      // Nothing is asked of Kafka meanwhile.
      this.#unansweredSinceMs = Date.now()
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    }
  }

  #succeeded(): void {
    this.#unansweredSinceMs = null
    if (this.#failingSinceMs === null) return
    this.#failingSinceMs = null
    this.#outageEndedMs = Date.now()
    this.#events.onRecovered()
  }

  async #failed(error: Error, attempt: number): Promise<void> {
    this.#failingSinceMs ??= Date.now()
    this.#events.onFailure(error, attempt)
    if (this.#abandoned) throw new Abandoned()
    if (error instanceof LogFencedError || attempt % RENEW_AFTER_ATTEMPTS === 0) {
      await this.#sender?.close().catch(() => undefined)
      this.#sender = null
    }
    const { retryMinMs, retryMaxMs } = this.#settings
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(attempt - 1, 10))
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      this.#interrupt = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#interrupt = null
    if (this.#abandoned) throw new Abandoned()
  }
}

function refusalOf(error: unknown): Refusal | null {
  if (error instanceof RecordTooLargeError) return { reason: 'massa-gran', detail: error.message }
  if (!(error instanceof LogRefusedError) || !ABOUT_THE_RECORD.has(error.reason)) return null
  return { reason: TOO_LARGE.has(error.reason) ? 'massa-gran' : 'rebutjat-per-kafka', detail: error.reason }
}
