import { DRIFT_OVER_MS, type PartitionFeed } from '@km0/contracts'

interface Place {
  readonly nextOffset: number
  readonly watermarkMs: number | null
}

interface Entry {
  readonly atMs: number
  readonly platformMs: number
  readonly places: ReadonlyMap<number, Place>
}

/** How far partitions were some minutes ago: by it a rate and the drift of a watermark are told. Holds a few dozen entries. */
export class ProgressBook {
  readonly #entries: Entry[] = []

  /** `atMs`: of a clock that only goes on; `platformMs`: of the platform. */
  note(atMs: number, platformMs: number, partitions: readonly PartitionFeed[], nextOffsets: ReadonlyMap<number, number>): void {
    const places = new Map(
      partitions.map(({ partition, watermarkMs }) => [partition, { nextOffset: nextOffsets.get(partition) ?? 0, watermarkMs }]),
    )
    this.#entries.push({ atMs, platformMs, places })
    // One that is older than what is asked for is kept.
    while ((this.#entries[1]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs - DRIFT_OVER_MS) this.#entries.shift()
  }

  /** Records a second since the oldest entry of the last minutes; null while there is none to compare with, or the log was replaced. */
  rate(partition: number, atMs: number, nextOffset: number): number | null {
    const entry = this.#entries[0]
    const before = entry?.places.get(partition)
    if (entry === undefined || before === undefined || atMs - entry.atMs < 1_000 || nextOffset < before.nextOffset) return null
    return ((nextOffset - before.nextOffset) * 1_000) / (atMs - entry.atMs)
  }

  /** By how much more the watermark is behind the platform's time than it was. */
  drift(partition: number, platformMs: number, watermarkMs: number | null): number | null {
    const entry = this.#entries[0]
    const before = entry?.places.get(partition)?.watermarkMs
    if (entry === undefined || before == null || watermarkMs === null) return null
    return platformMs - watermarkMs - (entry.platformMs - before)
  }
}
