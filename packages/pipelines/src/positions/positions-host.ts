import {
  DEFAULT_POSITIONS_SETTINGS,
  type Emission,
  type LinedHost,
  offTheClock,
  type Position,
  type PositionsSettings,
  RECORD_FLAGS,
  readPositionRecord,
  type WindowObserver,
} from '@km0/contracts'
import { linesOf, PartitionClock } from '@km0/windowing'
import { Outbox } from '../outbox.ts'
import { emitInvalid, emitOffTheClock } from '../refusals.ts'
import { type PositionsOperators, positionsOperators } from './operators.ts'
import { PositionsPartition } from './partition.ts'
import { headLine, POSITIONS_PIPELINE, POSITIONS_VERSION, partitionLines, readLines, restorePartitions } from './snapshot.ts'

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
): LinedHost {
  return new PositionsHost(positionsOperators(settings), observer, options.coalesceLivePoints === true)
}

class PositionsHost implements LinedHost {
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

  drainOrdered(): Emission[] {
    return this.out.drainOrdered()
  }

  snapshot(): string {
    return [...this.snapshotLines()].join('\n')
  }

  *snapshotLines(): Generator<string> {
    yield headLine(this.identity())
    const numbers = [...this.partitions.keys()].sort((a, b) => a - b)
    for (const number of numbers) yield* partitionLines(this.operators, number, this.partitions.get(number)!)
  }

  restore(snapshot: string): void {
    for (const _step of this.restoreLines(linesOf(snapshot)));
  }

  *restoreLines(lines: Iterable<string>): Generator<void> {
    const restored = new Map<number, PositionsPartition>()
    const read = readLines(lines[Symbol.iterator](), this.identity())
    yield* restorePartitions(read, (clock) => this.createPartition(clock), restored)
    this.partitions = restored
    this.out.clear()
  }

  keyCount(partition: number): number {
    return this.partitions.get(partition)?.vans.size ?? 0
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
