import { type ClockSnapshot, PartitionClock } from '@km0/windowing'

interface Source {
  readonly clock: PartitionClock
  /** Whether the minimum waits for it. A source added while running counts from its first record that does. */
  counted: boolean
}

export interface SourcesSnapshot {
  readonly watermarkMs: number | null
  readonly sources: readonly { readonly clock: ClockSnapshot; readonly counted: boolean }[]
}

/** Clocks of the source partitions of a shuffle, and their minimum, the job's watermark. It never goes back. */
export class SourceClocks {
  watermarkMs = Number.NEGATIVE_INFINITY
  private readonly sources: Source[] = []
  private readonly delayMs: number
  private readonly allowedLatenessMs: number

  constructor(delayMs: number, allowedLatenessMs: number, count: number) {
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`there must be at least one source partition, not ${count}`)
    this.delayMs = delayMs
    this.allowedLatenessMs = allowedLatenessMs
    while (this.sources.length < count) this.sources.push({ clock: new PartitionClock(delayMs, allowedLatenessMs), counted: true })
  }

  get count(): number {
    return this.sources.length
  }

  /** Adds sources while running: they hold nothing back until they are heard, and an event of theirs is late where the job's W has been. */
  grow(count: number): void {
    if (count < this.count) throw new RangeError(`there are ${this.count} source partitions already: ${count} would be fewer`)
    while (this.sources.length < count) {
      const clock = new PartitionClock(this.delayMs, this.allowedLatenessMs)
      clock.raise(this.watermarkMs)
      this.sources.push({ clock, counted: false })
    }
  }

  /** The clock of a source partition. Throws when there is no such source: the set-up is wrong, and results would be too. */
  clock(partition: number): PartitionClock {
    const source = this.sources[partition]
    if (source === undefined) {
      throw new RangeError(`a record of source partition ${partition}, but there are ${this.count}: set their number to that of the topic`)
    }
    return source.clock
  }

  /** A record of the source has counted, or its watermark was raised: brings the minimum up to date. Returns whether it moved. */
  settle(partition: number): boolean {
    const source = this.sources[partition]!
    if (!source.counted && source.clock.progressMs > Number.NEGATIVE_INFINITY) source.counted = true
    let watermarkMs = Number.POSITIVE_INFINITY
    for (const { clock, counted } of this.sources) if (counted && clock.watermarkMs < watermarkMs) watermarkMs = clock.watermarkMs
    if (!(watermarkMs > this.watermarkMs) || watermarkMs === Number.POSITIVE_INFINITY) return false
    this.watermarkMs = watermarkMs
    for (const { clock, counted } of this.sources) if (!counted) clock.raise(watermarkMs)
    return true
  }

  /** A window that ends at or before it is final for every source. */
  get finalMs(): number {
    let finalMs = Number.POSITIVE_INFINITY
    for (const { clock } of this.sources) if (clock.finalMs < finalMs) finalMs = clock.finalMs
    return Math.min(finalMs, this.watermarkMs)
  }

  snapshot(): SourcesSnapshot {
    return {
      watermarkMs: Number.isFinite(this.watermarkMs) ? this.watermarkMs : null,
      sources: this.sources.map(({ clock, counted }) => ({ clock: clock.snapshot(), counted })),
    }
  }

  /** Replaces the state; sources that the snapshot does not know are added while running. */
  restore(from: SourcesSnapshot): void {
    const count = Math.max(this.count, from.sources.length)
    this.watermarkMs = from.watermarkMs ?? Number.NEGATIVE_INFINITY
    this.sources.length = 0
    for (const { clock, counted } of from.sources) this.sources.push({ clock: PartitionClock.restore(clock), counted })
    this.grow(count)
  }
}
