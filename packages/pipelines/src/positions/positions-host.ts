import {
  DEFAULT_POSITIONS_SETTINGS,
  type Emission,
  offTheClock,
  type PipelineHost,
  type Position,
  type PositionsSettings,
  RECORD_FLAGS,
  readPositionRecord,
  type WindowObserver,
} from '@km0/contracts'
import { decodeSnapshot, encodeSnapshot, PartitionClock } from '@km0/windowing'
import { Outbox } from '../outbox.ts'
import { emitInvalid, emitOffTheClock } from '../refusals.ts'
import { type PositionsOperators, positionsOperators } from './operators.ts'
import { PositionsPartition } from './partition.ts'
import { type PartitionSnapshot, POSITIONS_PIPELINE, POSITIONS_VERSION, restorePartition, snapshotPartition } from './snapshot.ts'

/** How a host wants its results; it changes none of the state. */
export interface PositionsHostOptions {
  /** Emit of each van only the live point that is the newest at a `drain()`, after everything else. Default: each. */
  readonly coalesceLivePoints?: boolean
}

/**
 * The positions pipeline: sliding distances, sessions, signal states and live points. Partitions are independent of each other.
 * Throws a RangeError that names the setting that makes no sense.
 */
export function createPositionsHost(
  settings: PositionsSettings = DEFAULT_POSITIONS_SETTINGS,
  observer: WindowObserver | null = null,
  options: PositionsHostOptions = {},
): PipelineHost {
  return new PositionsHost(positionsOperators(settings), observer, options.coalesceLivePoints === true)
}

class PositionsHost implements PipelineHost {
  private readonly operators: PositionsOperators
  private readonly observer: WindowObserver | null
  private readonly out: Outbox
  private partitions = new Map<number, PositionsPartition>()

  constructor(operators: PositionsOperators, observer: WindowObserver | null, coalesceLivePoints: boolean) {
    this.operators = operators
    this.observer = observer
    this.out = new Outbox(coalesceLivePoints)
  }

  onRecord(
    partition: number,
    offset: number,
    timestampMs: number,
    _key: string | null,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
  ): number {
    const state = this.partitions.get(partition) ?? this.addPartition(partition)
    this.out.at(partition, offset)
    const beforeMs = state.clock.watermarkMs
    let flags = this.apply(state, text, byteLength, validUtf8, timestampMs)
    if (flags === RECORD_FLAGS.invalid) emitInvalid(this.out)
    if (state.clock.watermarkMs > beforeMs) {
      state.closeUpTo(beforeMs)
      flags |= RECORD_FLAGS.watermarkMoved
    }
    return this.out.isEmpty ? flags : flags | RECORD_FLAGS.emitted
  }

  private apply(state: PositionsPartition, text: string | null, byteLength: number, validUtf8: boolean, timestampMs: number): number {
    const record = readPositionRecord(text, byteLength, validUtf8, this.operators.settings.refuseNullIsland)
    switch (record.kind) {
      case 'invalid':
        return RECORD_FLAGS.invalid
      case 'heartbeat':
        state.clock.observe(Math.min(record.eventMs, timestampMs))
        return RECORD_FLAGS.heartbeat
      case 'settings':
        state.clock.configure(record.delayMs, record.allowedLatenessMs)
        return RECORD_FLAGS.settings
      case 'position':
        return this.applyPosition(state, record, timestampMs)
    }
  }

  private applyPosition(state: PositionsPartition, { van, lat, lon, eventMs }: Position, timestampMs: number): number {
    const { maxFutureMs, maxAgeMs } = this.operators.settings
    const reason = offTheClock(eventMs, timestampMs, maxFutureMs, maxAgeMs)
    if (reason !== null) {
      emitOffTheClock(this.out, van, reason, eventMs)
      return reason === 'futur' ? RECORD_FLAGS.future : RECORD_FLAGS.ancient
    }
    const flags = state.onPosition(van, lat, lon, eventMs, timestampMs)
    state.clock.observe(Math.min(eventMs, timestampMs))
    return flags
  }

  private addPartition(partition: number): PositionsPartition {
    const { delayMs, allowedLatenessMs } = this.operators.settings
    const state = this.createPartition(new PartitionClock(delayMs, allowedLatenessMs))
    this.partitions.set(partition, state)
    return state
  }

  private createPartition(clock: PartitionClock): PositionsPartition {
    return new PositionsPartition(this.operators, clock, this.out, this.observer)
  }

  drain(): Emission[] {
    return this.out.drain()
  }

  snapshot(): string {
    const numbers = [...this.partitions.keys()].sort((a, b) => a - b)
    const partitions = numbers.map((number) => snapshotPartition(this.operators, number, this.partitions.get(number)!))
    return encodeSnapshot({ ...this.identity(), state: { partitions } })
  }

  restore(snapshot: string): void {
    const { partitions } = decodeSnapshot(snapshot, this.identity()) as { partitions: readonly PartitionSnapshot[] }
    const restored = partitions.map((from) => [from.partition, restorePartition(from, (clock) => this.createPartition(clock))] as const)
    this.partitions = new Map(restored)
    this.out.clear()
  }

  /** Delay and allowed lateness are not part of it: a record of the log changes them, and each clock knows those in force. */
  private identity() {
    const { delayMs: _delayMs, allowedLatenessMs: _allowedLatenessMs, ...settings } = this.operators.settings
    return { pipeline: POSITIONS_PIPELINE, version: POSITIONS_VERSION, settings }
  }

  watermarkMs(partition: number): number {
    return this.partitions.get(partition)?.clock.watermarkMs ?? Number.NEGATIVE_INFINITY
  }

  finalMs(partition: number): number {
    return this.partitions.get(partition)?.clock.finalMs ?? Number.NEGATIVE_INFINITY
  }

  progressMs(partition: number): number {
    return this.partitions.get(partition)?.clock.progressMs ?? Number.NEGATIVE_INFINITY
  }
}
