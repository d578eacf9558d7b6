import { encodeOutage, HEARTBEAT_KIND, type OutageCauseValue, type OutageValue } from '@km0/contracts'
import type { LogRecord, OutRecord } from '@km0/transport'
import { z } from 'zod'

export const heartbeatWatchSnapshot = z.object({
  heartbeatMs: z.number().int().nullable(),
  /** Absent in states of before outages were told. */
  bridge: z.string().nullable().default(null),
})

/** What else a heartbeat may hold; a damaged one says nothing. */
const heartbeatValue = z.object({
  tipus: z.literal(HEARTBEAT_KIND),
  pont: z.string().nullable().catch(null).default(null),
  retingut: z.enum(['sense-connexio', 'espera-kafka', 'endarreriment']).nullable().catch(null).default(null),
})

const CAUSES = { 'sense-connexio': 'broker', 'espera-kafka': 'kafka', endarreriment: 'endarreriment' } as const

/**
 * Finds the outages of ours in the log of a partition: spans without heartbeats that are longer than `outageAfterMs`. A pure function of its
 * heartbeats: a replay or a restored state finds the same ones.
 */
export class HeartbeatWatch {
  readonly #partition: number
  readonly #epoch: number
  readonly #outageAfterMs: number
  #heartbeatMs: number | null = null
  /** Instance of the bridge that wrote the newest heartbeat. */
  #bridge: string | null = null

  constructor(partition: number, epoch: number, outageAfterMs: number) {
    this.#partition = partition
    this.#epoch = epoch
    this.#outageAfterMs = outageAfterMs
  }

  /** Record timestamp of the newest heartbeat; null before the first. */
  get heartbeatMs(): number | null {
    return this.#heartbeatMs
  }

  /** Takes a heartbeat. Returns the outage that it ends, as a record of the topic of marks; null when there was none. */
  hear(record: LogRecord): OutRecord | null {
    const { bridge, held } = readHeartbeat(record.value)
    const [lastMs, lastBridge] = [this.#heartbeatMs, this.#bridge]
    this.#bridge = bridge
    if (lastMs !== null && record.timestampMs <= lastMs) return null
    this.#heartbeatMs = record.timestampMs
    if (lastMs === null || record.timestampMs - lastMs <= this.#outageAfterMs) return null
    const value: OutageValue = {
      tipus: 'tall',
      particio: this.#partition,
      inici_ms: lastMs,
      fi_ms: record.timestampMs,
      causa: causeOf(lastBridge, bridge, held),
      epoca: this.#epoch,
      offset: record.offset,
    }
    return { ...encodeOutage(value), timestampMs: record.timestampMs }
  }

  snapshot(): z.infer<typeof heartbeatWatchSnapshot> {
    return { heartbeatMs: this.#heartbeatMs, bridge: this.#bridge }
  }

  restore(state: z.infer<typeof heartbeatWatchSnapshot>): void {
    this.#heartbeatMs = state.heartbeatMs
    this.#bridge = state.bridge
  }
}

/**
 * What the heartbeat after an outage tells of it. The bridge says what held it back, for as long as it ran; another instance means that the one
 * before has gone, and one that was held back by nothing has stood still. One that gives no name tells neither.
 */
function causeOf(before: string | null, after: string | null, held: OutageCauseValue): OutageCauseValue {
  if (held === 'broker' || held === 'kafka') return held
  if (before === null || after === null) return held
  return before === after ? (held ?? 'pont') : 'pont'
}

function readHeartbeat(value: Buffer | null): { readonly bridge: string | null; readonly held: OutageCauseValue } {
  try {
    const { pont, retingut } = heartbeatValue.parse(JSON.parse(value?.toString('utf8') ?? ''))
    return { bridge: pont, held: retingut === null ? null : CAUSES[retingut] }
  } catch {
    return { bridge: null, held: null }
  }
}
