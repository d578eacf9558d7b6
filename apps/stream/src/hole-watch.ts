import type { Logger, PartHealth } from '@km0/runtime'

/** Records of a partition that were gone before this job had read them. */
interface Hole {
  readonly fromOffset: number
  /** Offset of the oldest record that is left. */
  readonly toOffset: number
  /** Newest time that the state has heard of; null for a state that begins here. */
  readonly fromMs: number | null
}

/**
 * Tells of holes that retention has left: which offsets, which time, and how results of that time are made. The time is known with the first
 * record behind a hole. Health says it until the process ends.
 */
export class HoleWatch {
  readonly #log: Logger
  readonly #count: (partition: number, records: number) => void
  readonly #found = new Map<number, Hole>()
  readonly #told = new Map<number, string>()

  constructor(log: Logger, count: (partition: number, records: number) => void) {
    this.#log = log
    this.#count = count
  }

  /** A hole was found; `fromMs` -Infinity or null: the state begins behind it. */
  find(partition: number, fromOffset: number, toOffset: number, fromMs: number | null): void {
    if (toOffset <= fromOffset) return
    this.#count(partition, toOffset - fromOffset)
    this.#found.set(partition, { fromOffset, toOffset, fromMs: fromMs !== null && Number.isFinite(fromMs) ? fromMs : null })
  }

  /** The first record behind a hole, if there is one: tells it. */
  hear(partition: number, recordMs: number): void {
    const hole = this.#found.get(partition)
    if (hole === undefined) return
    this.#found.delete(partition)
    const { fromOffset, toOffset, fromMs } = hole
    const text = describeHole(hole, recordMs)
    this.#told.set(partition, text)
    this.#log.error({ partition, fromOffset, toOffset, records: toOffset - fromOffset, fromMs, toMs: recordMs }, text)
  }

  health(): PartHealth {
    const [first] = this.#told
    if (first === undefined) return { status: 'ok' }
    const [partition, text] = first
    const more = this.#told.size > 1 ? ` (and ${this.#told.size - 1} more partitions)` : ''
    return { status: 'degraded', detail: `partition ${partition}: ${text}${more}` }
  }
}

const HOUR_MS = 3_600_000

function describeHole({ fromOffset, toOffset, fromMs }: Hole, toMs: number): string {
  const upTo = new Date(toMs).toISOString()
  // A backfill is of whole hours; a window or session that began before belongs to the one in which it ends.
  const toHour = new Date(Math.ceil(toMs / HOUR_MS) * HOUR_MS).toISOString()
  const since = fromMs === null ? 'before' : `from ${new Date(fromMs).toISOString()} to`
  const fromHour = fromMs === null ? 'TIME' : new Date(Math.floor(fromMs / HOUR_MS) * HOUR_MS).toISOString()
  return (
    `retention has deleted the records ${fromOffset} to ${toOffset - 1} before they were read: live results ${since} ${upTo} miss them. ` +
    `A backfill makes them from what the lake holds: pnpm km0 backfill run --from ${fromHour} --to ${toHour}`
  )
}
