/** Why no heartbeat is written now. */
export type HoldReason = 'not-connected' | 'just-connected' | 'waiting-for-kafka' | 'backlog'

export const HOLD_REASONS: readonly HoldReason[] = ['not-connected', 'just-connected', 'waiting-for-kafka', 'backlog']

export interface HeartbeatSituation {
  readonly nowMs: number
  /** Since when the connection to the MQTT broker stands; null when it does not. */
  readonly connectedSinceMs: number | null
  /** End of the last Kafka outage; null when there was none. */
  readonly outageEndedMs: number | null
  /** A Kafka outage is going on, or a message has waited for Kafka too long, or there is no room for more. */
  readonly waitingForKafka: boolean
  /** Median over the vans heard since of how much later than usual they are; null when none was heard. */
  readonly medianExcessLatenessMs: number | null
}

export interface HeartbeatRuleSettings {
  /** A fresh connection is not believed before. */
  readonly settleMs: number
  /** Lateness is looked at for so long after a connection or an outage. */
  readonly backlogLimitMs: number
  /** Watermark delay in force. */
  readonly delayMs: number
}

/**
 * Whether the bridge may be draining a backlog, in which case a heartbeat would close windows over points that are still on their way.
 * Returns why it is held back, null when it may be written. A van whose clock is slow has its own usual lateness, so it alone holds
 * nothing back for long: with a history not at all, without one until `backlogLimitMs` is over.
 */
export function holdReason(situation: HeartbeatSituation, settings: HeartbeatRuleSettings): HoldReason | null {
  const { nowMs, connectedSinceMs, outageEndedMs, waitingForKafka, medianExcessLatenessMs } = situation
  if (connectedSinceMs === null) return 'not-connected'
  if (nowMs - connectedSinceMs < settings.settleMs) return 'just-connected'
  if (waitingForKafka) return 'waiting-for-kafka'
  const recoveredMs = Math.max(connectedSinceMs, outageEndedMs ?? Number.NEGATIVE_INFINITY)
  const mayDrain = nowMs - recoveredMs < settings.backlogLimitMs
  if (mayDrain && medianExcessLatenessMs !== null && medianExcessLatenessMs > settings.delayMs / 2) return 'backlog'
  return null
}
