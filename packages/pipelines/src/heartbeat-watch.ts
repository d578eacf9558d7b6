import { encodeOutage, HEARTBEAT_KIND, type OutageCauseValue, type OutageValue } from '@km0/contracts'

const CAUSES: Readonly<Record<string, OutageCauseValue>> = {
  'sense-connexio': 'broker',
  'espera-kafka': 'kafka',
  endarreriment: 'endarreriment',
}

export interface HeartbeatWatchSnapshot {
  readonly heartbeatMs: number | null
  readonly bridge: string | null
}

/** An outage as a record of the topic of marks. */
export interface OutageRecord {
  readonly topic: string
  readonly key: string
  readonly value: string
  readonly timestampMs: number
}

/**
 * Finds the outages of ours in the log of a partition: spans without heartbeats that are longer than `outageAfterMs`. A pure function of its
 * heartbeats: a replay or a restored state finds the same ones.
 */
export class HeartbeatWatch {
  private readonly partition: number
  private readonly epoch: number
  private readonly outageAfterMs: number
  /** Record timestamp of the newest heartbeat; null before the first. */
  heartbeatMs: number | null = null
  /** Instance of the bridge that wrote the newest heartbeat. */
  private bridge: string | null = null

  constructor(partition: number, epoch: number, outageAfterMs: number) {
    this.partition = partition
    this.epoch = epoch
    this.outageAfterMs = outageAfterMs
  }

  /** Takes a heartbeat. Returns the outage that it ends; null when there was none. */
  hear(offset: number, timestampMs: number, text: string | null): OutageRecord | null {
    const { bridge, held } = readHeartbeat(text)
    const lastMs = this.heartbeatMs
    const lastBridge = this.bridge
    this.bridge = bridge
    if (lastMs !== null && timestampMs <= lastMs) return null
    this.heartbeatMs = timestampMs
    if (lastMs === null || timestampMs - lastMs <= this.outageAfterMs) return null
    const value: OutageValue = {
      tipus: 'tall',
      particio: this.partition,
      inici_ms: lastMs,
      fi_ms: timestampMs,
      causa: causeOf(lastBridge, bridge, held),
      epoca: this.epoch,
      offset,
    }
    return { ...encodeOutage(value), timestampMs }
  }

  snapshot(): HeartbeatWatchSnapshot {
    return { heartbeatMs: this.heartbeatMs, bridge: this.bridge }
  }

  restore(state: HeartbeatWatchSnapshot): void {
    this.heartbeatMs = state.heartbeatMs
    this.bridge = state.bridge
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

/** What else a heartbeat may hold; a damaged one says nothing. */
function readHeartbeat(text: string | null): { readonly bridge: string | null; readonly held: OutageCauseValue } {
  try {
    const { tipus, pont, retingut } = JSON.parse(text ?? '') as Readonly<Record<string, unknown>>
    if (tipus !== HEARTBEAT_KIND) return { bridge: null, held: null }
    return {
      bridge: typeof pont === 'string' ? pont : null,
      held: typeof retingut === 'string' ? (CAUSES[retingut] ?? null) : null,
    }
  } catch {
    return { bridge: null, held: null }
  }
}
