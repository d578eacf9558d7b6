import { TOPICS } from '@km0/contracts'
import type { Log, LogRecord } from '@km0/transport'

/** Records at the end of each partition that are looked through. Above 200 messages a second in one, a heartbeat may not be among them. */
const LOOK_BACK_RECORDS = 2_000
/** A bridge writes a heartbeat every 10 s: after so long without one it is gone, or has given the partition up. */
const GONE_AFTER_MS = 60_000

export interface NeighbourParts {
  readonly log: Pick<Log, 'startOffsets' | 'endOffsets' | 'readTopic'>
  /** Our client id: another bridge with it is one of ours, which stands by or has ended. */
  readonly clientId: string
  readonly nowMs: () => number
  /** Another bridge is found that was not known. */
  readonly onFound: (clientId: string, partitions: readonly number[]) => void
}

/**
 * Finds other bridges that write into our partitions, by their heartbeats there. Two backlogs in one partition make the slower one late,
 * and heartbeats of one would close windows over points that the other still holds.
 */
export class Neighbours {
  readonly #parts: NeighbourParts
  /** Partition and client id to the arrival of its newest heartbeat there. */
  readonly #seen = new Map<string, { readonly partition: number; readonly clientId: string; readonly atMs: number }>()
  readonly #said = new Set<string>()
  /** From where to look, of each of our partitions. */
  #from: Map<number, number> | null = null

  constructor(parts: NeighbourParts) {
    this.#parts = parts
  }

  /** Reads what came into `own` since the last call; the first call only takes note of where they end. Rejects while the log is away. */
  async look(own: readonly number[]): Promise<void> {
    const { log } = this.#parts
    const topic = TOPICS.positions.name
    const starts = await log.startOffsets(topic)
    const ends = await log.endOffsets(topic)
    const since = this.#from
    this.#from = new Map(ends)
    if (since === null) return
    // A partition that is not ours is read from its end, that is not at all.
    const from = new Map(ends)
    for (const partition of own) {
      const end = ends.get(partition) ?? 0
      from.set(partition, Math.max(starts.get(partition) ?? 0, Math.min(since.get(partition) ?? end, end), end - LOOK_BACK_RECORDS))
    }
    for await (const { records } of log.readTopic({ topic, from, until: ends })) for (const record of records) this.#note(record)
    this.#say()
  }

  /** Client ids of the bridges that write into our partitions now, with those partitions. */
  get present(): ReadonlyMap<string, readonly number[]> {
    const present = new Map<string, number[]>()
    const nowMs = this.#parts.nowMs()
    for (const { partition, clientId, atMs } of this.#seen.values()) {
      if (nowMs - atMs > GONE_AFTER_MS) continue
      present.set(
        clientId,
        [...(present.get(clientId) ?? []), partition].sort((a, b) => a - b),
      )
    }
    return present
  }

  #note({ partition, value, timestampMs }: LogRecord): void {
    const clientId = clientOf(value)
    if (clientId === null || clientId === this.#parts.clientId) return
    this.#seen.set(`${partition} ${clientId}`, { partition, clientId, atMs: timestampMs })
  }

  #say(): void {
    const present = this.present
    for (const [clientId, partitions] of present) {
      if (!this.#said.has(clientId)) this.#parts.onFound(clientId, partitions)
      this.#said.add(clientId)
    }
    for (const clientId of this.#said) if (!present.has(clientId)) this.#said.delete(clientId)
    for (const [key, { atMs }] of this.#seen) if (this.#parts.nowMs() - atMs > GONE_AFTER_MS) this.#seen.delete(key)
  }
}

/** Client id in a heartbeat, null for all else. Positions are told apart without parsing them. */
function clientOf(value: Buffer | null): string | null {
  if (value === null || !value.includes('"batec"')) return null
  try {
    const { tipus, client } = (JSON.parse(value.toString('utf8')) ?? {}) as Record<string, unknown>
    return tipus === 'batec' && typeof client === 'string' ? client : null
  } catch {
    return null
  }
}
