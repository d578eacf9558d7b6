import type { Health, PartHealth } from '@km0/runtime'

/** A start, a reconnect or a restart of Kafka may take so long without being a fault. */
export const GRACE_MS = 30_000
/** Settling and draining explain heartbeats that are held back; longer is an alarm. */
export const HEARTBEAT_ALARM_MS = 170_000

export interface HealthSituation {
  readonly nowMs: number
  readonly startedMs: number
  readonly subscribed: boolean
  /** Since when there is no subscribed connection; null while there is. */
  readonly disconnectedSinceMs: number | null
  /** The log was read at the start. */
  readonly logKnown: boolean
  readonly kafkaFailingSinceMs: number | null
  readonly queueFull: boolean
  readonly queueMessages: number
  readonly heartbeatAlarm: boolean
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
export function kafkaHealth({ nowMs, startedMs, logKnown, kafkaFailingSinceMs, queueFull, queueMessages }: HealthSituation): PartHealth {
  const starting = nowMs - startedMs < GRACE_MS
  const sinceMs = logKnown ? kafkaFailingSinceMs : startedMs
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

/** Registers the parts of the bridge. */
export function registerHealth(health: Health, read: () => HealthSituation): void {
  health.register('mqtt', () => mqttHealth(read()))
  health.register('kafka', () => kafkaHealth(read()))
  health.register('heartbeats', () => heartbeatHealth(read()))
}
