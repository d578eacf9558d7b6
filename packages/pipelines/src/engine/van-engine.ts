import { readPositionRecord } from '@km0/contracts'
import { linesOf, PartitionClock } from '@km0/windowing'
import { Outbox } from '../outbox.ts'
import { batteryOf } from '../positions/battery.ts'
import { positionsOperators } from '../positions/operators.ts'
import { POSITIONS_TOPICS } from '../positions/output-topics.ts'
import { PositionsPartition } from '../positions/partition.ts'
import { headLine, POSITIONS_PIPELINE, POSITIONS_VERSION, partitionLines, readLines, restorePartitions } from '../positions/snapshot.ts'
import { type Emit, sourceHeaders } from './emit.ts'
import { positionsSettingsOf } from './positions-engine.ts'

/**
 * One van of one source partition, for an engine that is keyed by van. Each record carries W and F of its partition before it (StampEngine),
 * which close what is due before the record is judged; `advance` closes what is due when the van itself is silent.
 */
export class VanEngine {
  private readonly partition: number
  private readonly epoch: number
  private readonly emit: Emit
  private readonly operators
  private readonly out = new Outbox()
  private state: PositionsPartition

  constructor(partition: number, epoch: number, settingsJson: string | null, emit: Emit) {
    this.partition = partition
    this.epoch = epoch
    this.emit = emit
    this.operators = positionsOperators(positionsSettingsOf(settingsJson))
    this.state = this.create(new PartitionClock(0, 0))
  }

  private create(clock: PartitionClock): PositionsPartition {
    return new PositionsPartition(this.operators, clock, this.out, null)
  }

  /** Applies a position that StampEngine let pass, with the marks it gave. Returns RECORD_FLAGS. Throws when it is no position. */
  onRecord(
    offset: number,
    timestampMs: number,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
    watermarkBeforeMs: number,
    finalBeforeMs: number,
  ): number {
    this.advance(offset, timestampMs, watermarkBeforeMs, finalBeforeMs)
    const record = readPositionRecord(text, byteLength, validUtf8, this.operators.settings.refuseNullIsland)
    if (record.kind !== 'position') throw new Error(`the record at ${this.partition}:${offset} is no position`)
    const flags = this.state.onPosition(record.van, record.lat, record.lon, record.eventMs, timestampMs)
    this.send(offset, timestampMs, text)
    return flags
  }

  /** W and F of the partition are at least these: emits what that closes, as caused by the record at `offset`. */
  advance(offset: number, timestampMs: number, watermarkMs: number, finalMs: number): void {
    const { clock } = this.state
    const beforeMs = clock.watermarkMs
    if (finalMs > clock.finalMs) clock.finalMs = finalMs
    if (!(watermarkMs > beforeMs)) return
    clock.watermarkMs = watermarkMs
    this.state.closeUpTo(beforeMs)
    this.send(offset, timestampMs, null)
  }

  private send(offset: number, timestampMs: number, text: string | null): void {
    if (this.out.isEmpty) return
    for (const { output, key, value } of this.out.drain()) {
      if (output !== 'panell' && output !== 'tardans' && output !== 'viu') throw new Error(`a van has nothing for '${output}'`)
      const battery = output === 'viu' ? batteryOf(text) : null
      const partition = output === 'panell' ? this.partition : -1
      this.emit(POSITIONS_TOPICS[output], partition, key, value, timestampMs, sourceHeaders(this.epoch, this.partition, offset, battery))
    }
  }

  /** W at which `advance` has something to do; Infinity when the van leaves no state. */
  get nextDueMs(): number {
    return this.state.nextDueMs
  }

  get watermarkMs(): number {
    return this.state.clock.watermarkMs
  }

  /** Nothing is known of the van any more: the host may forget it. */
  get isGone(): boolean {
    return this.state.vans.size === 0
  }

  snapshot(): string {
    return [headLine(this.identity()), ...partitionLines(this.operators, this.partition, this.state)].join('\n')
  }

  restore(snapshot: string): void {
    const restored = new Map<number, PositionsPartition>()
    const lines = readLines(linesOf(snapshot)[Symbol.iterator](), this.identity())
    for (const _step of restorePartitions(lines, (clock) => this.create(clock), restored));
    const state = restored.get(this.partition)
    if (state === undefined) throw new Error(`the state is not of partition ${this.partition}`)
    this.state = state
    this.out.clear()
  }

  private identity() {
    const { delayMs: _delayMs, allowedLatenessMs: _allowedLatenessMs, ...settings } = this.operators.settings
    return { pipeline: POSITIONS_PIPELINE, version: POSITIONS_VERSION, settings }
  }
}
