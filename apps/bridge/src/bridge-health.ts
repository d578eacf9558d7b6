import type { Health, PartHealth } from '@km0/runtime'
import type { LeaseState } from '@km0/transport/log-lease'
import type { ProbeVerdict } from './self-probe.ts'

/** A start, a reconnect or a restart of Kafka may take so long without being a fault. */
export const GRACE_MS = 30_000
/** A batch that Kafka has not answered for so long: it hangs, although no attempt has failed yet. */
const NO_ANSWER_MS = 10_000
/** Settling and draining explain heartbeats that are held back; longer is an alarm. */
export const HEARTBEAT_ALARM_MS = 170_000

/** A lease that is well is confirmed every second. */
const CONTACT_MS = 6_000

export interface HealthSituation {
  readonly nowMs: number
  readonly startedMs: number
  readonly subscribed: boolean
  /** Since when there is no subscribed connection; null while there is. */
  readonly disconnectedSinceMs: number | null
  /** The log was read at the start. */
  readonly logKnown: boolean
  readonly kafkaFailingSinceMs: number | null
  /** A batch is on its way since; null while none is. */
  readonly kafkaUnansweredSinceMs: number | null
  readonly queueFull: boolean
  readonly queueMessages: number
  readonly heartbeatAlarm: boolean
  readonly probe: ProbeVerdict
  /** Our client id while another client seems to use it, else null. */
  readonly sharedClientId: string | null
  /** Other bridges that write into our partitions, with those partitions. */
  readonly neighbours: ReadonlyMap<string, readonly number[]>
  /** Play mode waits for its first tick. */
  readonly clockUnknown: boolean
}

const OK: PartHealth = { status: 'ok' }

/** Health of the connection to the vans. */
export function mqttHealth({ nowMs, subscribed, disconnectedSinceMs }: HealthSituation): PartHealth {
  if (subscribed) return OK
  const seconds = Math.round((nowMs - (disconnectedSinceMs ?? nowMs)) / 1000)
  const detail = `no subscribed connection for ${seconds} s`
  return seconds * 1000 < GRACE_MS ? { status: 'ok', detail } : { status: 'down', detail }
}

/** Health of the connection to the log. */
export function kafkaHealth(situation: HealthSituation): PartHealth {
  const { nowMs, startedMs, logKnown, kafkaFailingSinceMs, kafkaUnansweredSinceMs, queueFull, queueMessages } = situation
  const starting = nowMs - startedMs < GRACE_MS
  const hangs = kafkaUnansweredSinceMs !== null && nowMs - kafkaUnansweredSinceMs > NO_ANSWER_MS
  const failingSinceMs = hangs ? kafkaUnansweredSinceMs : kafkaFailingSinceMs
  const sinceMs = logKnown ? failingSinceMs : startedMs
  if (sinceMs !== null) {
    const detail = `no answer for ${Math.round((nowMs - sinceMs) / 1000)} s, ${queueMessages} messages wait`
    if (starting) return { status: 'ok', detail }
    return { status: nowMs - sinceMs < GRACE_MS ? 'degraded' : 'down', detail }
  }
  return queueFull ? { status: 'degraded', detail: `${queueMessages} messages wait; MQTT input is held` } : OK
}

/** Health of what the bridge itself writes. */
export function heartbeatHealth({ heartbeatAlarm, clockUnknown, nowMs, startedMs }: HealthSituation): PartHealth {
  if (clockUnknown) {
    const detail = 'play mode: no tick on km0/rellotge yet, positions wait for it'
    return { status: nowMs - startedMs < GRACE_MS ? 'ok' : 'degraded', detail }
  }
  return heartbeatAlarm ? { status: 'degraded', detail: 'heartbeats are held back longer than a backlog explains' } : OK
}

/** Health of what the probe through the broker tells. */
export function inputHealth({ probe, sharedClientId }: HealthSituation): PartHealth {
  if (probe === 'deaf') return { status: 'down', detail: 'connected and subscribed, and not even our own probe comes back' }
  if (sharedClientId !== null) {
    const detail = `another client connects as ${sharedClientId}: the two throw each other out. Give one of them a client id of its own`
    return { status: 'degraded', detail }
  }
  return probe === 'unsent' ? { status: 'degraded', detail: 'the broker takes no probes from us' } : OK
}

/** Health of the partitions that are ours alone. */
export function partitionsHealth({ neighbours }: HealthSituation): PartHealth {
  if (neighbours.size === 0) return OK
  const told = [...neighbours].map(([clientId, partitions]) => `${clientId} writes into ${partitions.join(', ')}`)
  return { status: 'degraded', detail: `${told.join('; ')} beside this bridge: give each bridge filters and partitions of its own` }
}

export interface LeaseSituation {
  readonly nowMs: number
  readonly startedMs: number
  readonly state: LeaseState
  readonly lastContactMs: number | null
}

/** Whether this bridge is the active one, and how sure that is. */
export function leaseHealth({ nowMs, startedMs, state, lastContactMs }: LeaseSituation): PartHealth {
  const role = state === 'no' ? 'standing by' : 'active'
  const silentMs = nowMs - (lastContactMs ?? startedMs)
  if (silentMs < CONTACT_MS) return { status: 'ok', detail: lastContactMs === null ? 'asking for the lease' : role }
  const detail = `${role}; the keeper of the lease has not answered for ${Math.round(silentMs / 1000)} s`
  return { status: silentMs < GRACE_MS ? 'degraded' : 'down', detail }
}

const STANDING_BY: PartHealth = { status: 'ok', detail: 'standing by' }

/** Registers the parts of the bridge; `read` returns null while it stands by. */
export function registerHealth(health: Health, read: () => HealthSituation | null): void {
  const part = (name: string, judge: (situation: HealthSituation) => PartHealth) =>
    health.register(name, () => {
      const situation = read()
      return situation === null ? STANDING_BY : judge(situation)
    })
  part('mqtt', mqttHealth)
  part('input', inputHealth)
  part('kafka', kafkaHealth)
  part('heartbeats', heartbeatHealth)
  part('partitions', partitionsHealth)
}
