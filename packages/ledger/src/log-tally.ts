import { type PipelineHost, RECORD_FLAGS } from '@km0/contracts'
import { type BridgeBeat, BridgeTally } from './bridge-tally.ts'
import { CountTable } from './count-table.ts'
import { MESSAGE, MESSAGE_COLUMNS } from './journal-tally.ts'
import { ResultTally } from './result-tally.ts'
import { SideTally } from './side-tally.ts'

/** A stretch of a partition, `[from, until)` in offsets. */
export interface OffsetRange {
  readonly from: number
  readonly until: number
}

/** One record of the log of positions, as `PipelineHost.onRecord` takes it. */
export interface TalliedRecord {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly text: string | null
  readonly byteLength: number
  readonly validUtf8: boolean
  /** `digestKey` of the value; null where it is too old to be looked for. */
  readonly digest: number | null
  /** A person has put it right and written it past the bridge. */
  readonly repaired: boolean
}

/** How far the programs behind the log are; a record before its offset has been applied. */
export interface Progress {
  readonly windowing: ReadonlyMap<number, number>
  /** null: there is no lake. */
  readonly lake: ReadonlyMap<number, number> | null
}

export interface JudgedCounts {
  readonly accepted: number
  /** Of the accepted ones. */
  readonly partlyLate: number
  /** The same bytes stood in the log before. */
  readonly sameMessage: number
  /** Another message of the same van and time. */
  readonly sameInstant: number
  readonly late: number
  readonly invalid: number
  readonly future: number
  readonly ancient: number
  readonly heartbeats: number
  readonly settings: number
}

export interface LogCounts {
  /** Records that the offsets of the span promise. */
  readonly promised: number
  readonly judged: JudgedCounts
  /** What the lake keeps of them, and how much of that it has come to. */
  readonly kept: number
  readonly keptSettled: number
  /** Messages of the span whose bytes stood in the log before. */
  readonly repeated: number
  /** Messages and dead letters of the bridge that came before the journal begins. */
  readonly beforeJournal: number
  /** Records of the span that a person has put right. */
  readonly repaired: number
  /** Dead letters of the bridge, by reason. */
  readonly letters: Readonly<Record<string, number>>
}

type Writable<T> = { -readonly [name in keyof T]: T[name] }

/**
 * Runs the pure core over the log and counts what becomes of the records of a span. The log is read from before the span, so that the state
 * at its start is the right one; what it emits for the span is what side outputs and results are compared with.
 */
export class LogTally {
  readonly messages = new CountTable(MESSAGE_COLUMNS)
  readonly bridge = new BridgeTally()
  readonly deadLetters = new SideTally()
  readonly late = new SideTally()
  readonly results = new ResultTally()
  readonly #host: PipelineHost
  readonly #span: ReadonlyMap<number, OffsetRange>
  readonly #progress: Progress
  readonly #judged: Writable<JudgedCounts> = {
    accepted: 0,
    partlyLate: 0,
    sameMessage: 0,
    sameInstant: 0,
    late: 0,
    invalid: 0,
    future: 0,
    ancient: 0,
    heartbeats: 0,
    settings: 0,
  }
  #kept = 0
  #keptSettled = 0
  #repeated = 0
  #repaired = 0
  #beforeJournal = 0
  readonly #letters: Record<string, number> = {}
  readonly #journalFromMs: number

  /** `journalFromMs`: arrival time of the oldest line of a journal; what came before is not looked for. */
  constructor(host: PipelineHost, span: ReadonlyMap<number, OffsetRange>, progress: Progress, journalFromMs: number) {
    this.#host = host
    this.#span = span
    this.#progress = progress
    this.#journalFromMs = journalFromMs
  }

  /** Records of one partition come in their order. */
  apply(record: TalliedRecord): void {
    const { partition, offset, timestampMs, text, byteLength, validUtf8, digest } = record
    const flags = this.#host.onRecord(partition, offset, timestampMs, null, text, byteLength, validUtf8)
    const range = this.#span.get(partition)
    const inSpan = range !== undefined && offset >= range.from && offset < range.until
    if ((flags & (RECORD_FLAGS.heartbeat | RECORD_FLAGS.settings)) !== 0) {
      const told = (flags & RECORD_FLAGS.heartbeat) !== 0 && text !== null ? beatOf(text) : null
      if (told !== null) this.bridge.beat(partition, told, inSpan)
      if (inSpan) this.#judge(flags, false)
    } else if (record.repaired) {
      if (inSpan) {
        this.#repaired += 1
        this.#judge(flags, false)
      }
    } else {
      const wasThere = digest !== null && this.messages.has(digest)
      if (digest !== null) this.#message(digest, timestampMs, inSpan)
      if (inSpan) {
        this.bridge.message(partition)
        this.#judge(flags, wasThere)
        if (wasThere) this.#repeated += 1
      }
    }
    if (inSpan) this.#keep(flags, partition, offset)
    if ((flags & RECORD_FLAGS.emitted) !== 0) this.#emitted(inSpan)
  }

  /** A dead letter that a bridge has written; `digest` of the message, null when it tells none. */
  letter(arrivalMs: number, reason: string, digest: number | null, inSpan: boolean): void {
    if (digest !== null) this.#message(digest, arrivalMs, inSpan)
    if (!inSpan) return
    this.bridge.letter(arrivalMs)
    this.#letters[reason] = (this.#letters[reason] ?? 0) + 1
  }

  #message(digest: number, arrivalMs: number, inSpan: boolean): void {
    const asked = inSpan && arrivalMs >= this.#journalFromMs
    this.messages.add(digest, asked ? MESSAGE.loggedIn : MESSAGE.loggedOut)
    if (inSpan && !asked) this.#beforeJournal += 1
  }

  #judge(flags: number, wasThere: boolean): void {
    const judged = this.#judged
    if ((flags & RECORD_FLAGS.accepted) !== 0) judged.accepted += 1
    if ((flags & RECORD_FLAGS.partlyLate) !== 0) judged.partlyLate += 1
    if ((flags & RECORD_FLAGS.duplicate) !== 0) judged[wasThere ? 'sameMessage' : 'sameInstant'] += 1
    if ((flags & RECORD_FLAGS.late) !== 0) judged.late += 1
    if ((flags & RECORD_FLAGS.invalid) !== 0) judged.invalid += 1
    if ((flags & RECORD_FLAGS.future) !== 0) judged.future += 1
    if ((flags & RECORD_FLAGS.ancient) !== 0) judged.ancient += 1
    if ((flags & RECORD_FLAGS.heartbeat) !== 0) judged.heartbeats += 1
    if ((flags & RECORD_FLAGS.settings) !== 0) judged.settings += 1
  }

  /** The lake keeps what rules 1 and 2 of section 3 accept, late or not, heartbeats and settings. */
  #keep(flags: number, partition: number, offset: number): void {
    if ((flags & (RECORD_FLAGS.invalid | RECORD_FLAGS.future | RECORD_FLAGS.ancient)) !== 0) return
    this.#kept += 1
    if (offset < (this.#progress.lake?.get(partition) ?? 0)) this.#keptSettled += 1
  }

  #emitted(inSpan: boolean): void {
    for (const { output, key, value, partition, offset } of this.#host.drain()) {
      if (!inSpan) continue
      const settled = offset < (this.#progress.windowing.get(partition) ?? 0)
      if (output === 'panell' && key !== null) this.results.expect(key, settled)
      else if (output === 'tardans') this.late.expect(partition, offset, reasonOf(value), settled)
      else if (output === 'rebutjats') this.deadLetters.expect(partition, offset, reasonOf(value), settled)
    }
  }

  counts(): LogCounts {
    const promised = [...this.#span.values()].reduce((sum, { from, until }) => sum + Math.max(0, until - from), 0)
    return {
      promised,
      judged: this.#judged,
      kept: this.#kept,
      keptSettled: this.#keptSettled,
      repeated: this.#repeated,
      repaired: this.#repaired,
      beforeJournal: this.#beforeJournal,
      letters: this.#letters,
    }
  }
}

/** `motiu` of a side output's value; '' when it has none. */
export function reasonOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('motiu' in value)) return ''
    return typeof value.motiu === 'string' ? value.motiu : ''
  } catch {
    return ''
  }
}

/** What a heartbeat tells of its bridge; null when it tells nothing, as heartbeats of other writers do. */
export function beatOf(text: string): BridgeBeat | null {
  const { pont, data_ms: ms, rebuts, bessons, tics } = JSON.parse(text) as Readonly<Record<string, unknown>>
  const counts = [ms, rebuts, bessons, tics].every((count) => Number.isSafeInteger(count))
  if (typeof pont !== 'string' || !counts) return null
  return { instance: pont, ms: ms as number, received: rebuts as number, merged: bessons as number, clock: tics as number }
}
