import {
  DEFAULT_OUTAGE_AFTER_MS,
  DEFAULT_POSITIONS_SETTINGS,
  type LinedHost,
  type PositionsSettings,
  RECORD_FLAGS,
  TOPICS,
} from '@km0/contracts'
import { linesOf } from '@km0/windowing'
import { HeartbeatWatch, type HeartbeatWatchSnapshot, type OutageRecord } from '../heartbeat-watch.ts'
import { batteryOf } from '../positions/battery.ts'
import { markText } from '../positions/mark.ts'
import { POSITIONS_TOPICS } from '../positions/output-topics.ts'
import { createPositionsHost } from '../positions/positions-host.ts'
import { type Emit, sourceHeaders } from './emit.ts'

/** Settings from JSON text: those that it names instead of the defaults. */
export function positionsSettingsOf(json: string | null): PositionsSettings {
  return { ...DEFAULT_POSITIONS_SETTINGS, ...(json === null ? {} : (JSON.parse(json) as Partial<PositionsSettings>)) }
}

interface Cause {
  readonly timestampMs: number
  readonly text: string | null
}

/**
 * The positions pipeline on one source partition, for a foreign engine: what apps/stream's task is for ours, with the same state text, topics
 * and headers. Results are emitted while their record is applied; of each van the newest live point waits for `flush`.
 */
export class PositionsEngine {
  private readonly partition: number
  private readonly epoch: number
  private readonly emit: Emit
  private readonly host: LinedHost
  private readonly heartbeats: HeartbeatWatch
  private recordMs: number | null = null
  private next = 0
  private markedOffset = -1
  /** Records since the last flush, which live points may stand for. */
  private causes = new Map<number, Cause>()
  private silent = false

  constructor(partition: number, epoch: number, settingsJson: string | null, outageAfterMs: number | null, emit: Emit) {
    this.partition = partition
    this.epoch = epoch
    this.emit = emit
    this.host = createPositionsHost(positionsSettingsOf(settingsJson), null, { coalesceLivePoints: true })
    this.heartbeats = new HeartbeatWatch(partition, epoch, outageAfterMs ?? DEFAULT_OUTAGE_AFTER_MS)
  }

  /** Applies the record at `offset`. Returns RECORD_FLAGS. */
  onRecord(offset: number, timestampMs: number, text: string | null, byteLength: number, validUtf8: boolean): number {
    const flags = this.host.onRecord(this.partition, offset, timestampMs, null, text, byteLength, validUtf8)
    this.next = offset + 1
    if (this.recordMs === null || timestampMs > this.recordMs) this.recordMs = timestampMs
    if ((flags & (RECORD_FLAGS.accepted | RECORD_FLAGS.late)) !== 0) this.causes.set(offset, { timestampMs, text })
    const outage = (flags & RECORD_FLAGS.heartbeat) === 0 ? null : this.heartbeats.hear(offset, timestampMs, text)
    const emissions = this.host.drainOrdered()
    if (this.silent) return flags
    for (const { output, key, value } of emissions) {
      const topic = POSITIONS_TOPICS[output]
      const partition = output === 'panell' ? this.partition : -1
      this.emit(topic, partition, key, value, timestampMs, sourceHeaders(this.epoch, this.partition, offset))
    }
    if (outage !== null) this.emitOutage(outage)
    return flags
  }

  /** Applies a record whose results are in the log already: only live points that wait for `flush` are emitted, again and equal. */
  reapply(offset: number, timestampMs: number, text: string | null, byteLength: number, validUtf8: boolean): number {
    this.silent = true
    try {
      return this.onRecord(offset, timestampMs, text, byteLength, validUtf8)
    } finally {
      this.silent = false
    }
  }

  private emitOutage({ topic, key, value, timestampMs }: OutageRecord): void {
    this.emit(topic, -1, key, value, timestampMs, '')
  }

  /** Emits the newest live point of each van since the last flush. */
  flush(): void {
    for (const { key, value, offset } of this.host.drain()) {
      const cause = this.causes.get(offset)
      const headers = sourceHeaders(this.epoch, this.partition, offset, batteryOf(cause?.text ?? null))
      this.emit(TOPICS.live.name, -1, key, value, cause?.timestampMs ?? 0, headers)
    }
    this.causes.clear()
  }

  /** Emits how far this partition has come, when that is not told yet. `nowMs` stamps the record and is in no value. */
  mark(nowMs: number): void {
    if (this.next === this.markedOffset) return
    this.markedOffset = this.next
    const { partition, epoch, next: nextOffset, recordMs, heartbeats, host } = this
    const value = markText({ partition, epoch, nextOffset, recordMs, heartbeats, host })
    this.emit(TOPICS.marks.name, -1, String(partition), value, nowMs, '')
  }

  get nextOffset(): number {
    return this.next
  }

  get watermarkMs(): number {
    return this.host.watermarkMs(this.partition)
  }

  get progressMs(): number {
    return this.host.progressMs(this.partition)
  }

  get keyCount(): number {
    return this.host.keyCount(this.partition)
  }

  /** The whole state as of `nextOffset`: the text that our own job stores at that offset. */
  snapshot(): string {
    const lines = [JSON.stringify({ version: 2, ...this.heartbeats.snapshot(), recordMs: this.recordMs })]
    for (const line of this.host.snapshotLines()) lines.push(line)
    return lines.join('\n')
  }

  /** Replaces the state by one of our own job, or of `snapshot`. Throws when it is of another pipeline, version or settings. */
  restore(snapshot: string, nextOffset: number): void {
    const lines = linesOf(snapshot)[Symbol.iterator]()
    const head = JSON.parse(lines.next().value ?? '') as HeartbeatWatchSnapshot & {
      version: number
      host?: string
      recordMs: number | null
    }
    if (head.version !== 1 && head.version !== 2) throw new Error(`a state of version ${head.version} is not known`)
    const rest = head.version === 1 && head.host !== undefined ? linesOf(head.host) : { [Symbol.iterator]: () => lines }
    for (const _step of this.host.restoreLines(rest));
    this.heartbeats.restore({ heartbeatMs: head.heartbeatMs, bridge: head.bridge ?? null })
    this.recordMs = head.recordMs
    this.next = nextOffset
    this.causes.clear()
  }
}
