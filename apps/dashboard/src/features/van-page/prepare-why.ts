import type { PartitionProgress, VanDayRules } from '@km0/contracts/van-day-panel'

/** The bridge writes a heartbeat to every partition so often (section 1 of the semantics). */
export const HEARTBEAT_EVERY_MS = 10_000
/** A heartbeat that is so much overdue while records come is held back. */
const HELD_AFTER_MS = 2 * HEARTBEAT_EVERY_MS

/**
 * What a window that is open waits for. `not-over`: its own end. `delay`: the time that points have to arrive. `heartbeat`: the next record that is
 * late enough, at the latest the next heartbeat. `held`: heartbeats are held back while a backlog may be coming in. `deaf`: no heartbeat at all, an
 * outage of ours. `behind`: the stream job has not read what is there. `nothing`: nothing has ever come from the partition.
 */
export type Holder = 'not-over' | 'delay' | 'heartbeat' | 'held' | 'deaf' | 'behind' | 'nothing'

export interface WhyOpen {
  readonly state: 'open' | 'closed' | 'final'
  /** null: nothing holds it. */
  readonly holder: Holder | null
  readonly partition: number | null
  readonly watermarkMs: number | null
  /** How far the watermark is from the end of the window; 0 when it has passed it. */
  readonly missingMs: number | null
  /** In force: what the watermark is behind the progress by. */
  readonly delayMs: number
  readonly allowedLatenessMs: number
  readonly heartbeatAgeMs: number | null
  /** Who moved the watermark last: a van of the partition; null: a heartbeat. */
  readonly movedBy: string | null
  readonly behindRecords: number | null
  /** Platform time at which it closes if what it waits for comes in time; null when nobody can say. */
  readonly closesAtMs: number | null
  /** When late points change it no more. The same as `closesAtMs` without allowed lateness. */
  readonly finalAtMs: number | null
}

/**
 * Why a window that ends at `endMs` is open still: it closes when W ≥ its end, W being the progress of its van's partition less the delay
 * (sections 2 and 4), and is final when F = W − A is (section 9). Other partitions hold nobody up.
 */
export function whyNotYet(
  endMs: number,
  progress: PartitionProgress | null,
  rules: Pick<VanDayRules, 'delayMs' | 'allowedLatenessMs' | 'outageAfterMs'>,
  nowMs: number,
): WhyOpen {
  const { watermarkMs = null, progressMs = null, newestHeartbeatMs = null } = progress?.feed ?? {}
  const delayMs = watermarkMs === null || progressMs === null ? rules.delayMs : progressMs - watermarkMs
  const base = {
    partition: progress?.feed.partition ?? null,
    watermarkMs,
    missingMs: watermarkMs === null ? null : Math.max(0, endMs - watermarkMs),
    delayMs,
    allowedLatenessMs: rules.allowedLatenessMs,
    heartbeatAgeMs: newestHeartbeatMs === null ? null : Math.max(0, nowMs - newestHeartbeatMs),
    movedBy: movedBy(progress),
    behindRecords: progress?.behindRecords ?? null,
  }
  if (watermarkMs !== null && watermarkMs >= endMs) {
    const isFinal = watermarkMs - rules.allowedLatenessMs >= endMs
    const finalAtMs = isFinal ? null : endMs + delayMs + rules.allowedLatenessMs
    return { ...base, state: isFinal ? 'final' : 'closed', holder: null, closesAtMs: null, finalAtMs }
  }
  const holder = holderOf(endMs, progress, rules, nowMs, delayMs)
  const closesAtMs = closing(holder, endMs + delayMs, newestHeartbeatMs)
  return { ...base, state: 'open', holder, closesAtMs, finalAtMs: closesAtMs === null ? null : closesAtMs + rules.allowedLatenessMs }
}

function holderOf(
  endMs: number,
  progress: PartitionProgress | null,
  rules: Pick<VanDayRules, 'outageAfterMs'>,
  nowMs: number,
  delayMs: number,
): Holder {
  if (progress === null || progress.feed.watermarkMs === null) return 'nothing'
  const { newestHeartbeatMs, newestRecordMs } = progress.feed
  const heartbeatAgeMs = nowMs - (newestHeartbeatMs ?? Number.NEGATIVE_INFINITY)
  // A job that is behind sees no new heartbeats either: that is told first, since they are in the log.
  if ((progress.behindRecords ?? 0) > 0 && heartbeatAgeMs > HELD_AFTER_MS) return 'behind'
  if (heartbeatAgeMs > rules.outageAfterMs) return 'deaf'
  if (nowMs < endMs) return 'not-over'
  if (nowMs < endMs + delayMs) return 'delay'
  const recordsCome = newestRecordMs !== null && newestRecordMs - (newestHeartbeatMs ?? 0) > HEARTBEAT_EVERY_MS
  return heartbeatAgeMs > HELD_AFTER_MS && recordsCome ? 'held' : 'heartbeat'
}

/** The first heartbeat at or after `leastMs` closes it, at the latest. */
function closing(holder: Holder, leastMs: number, newestHeartbeatMs: number | null): number | null {
  if (holder === 'nothing' || holder === 'deaf' || holder === 'behind' || holder === 'held' || newestHeartbeatMs === null) return null
  const beats = Math.max(1, Math.ceil((leastMs - newestHeartbeatMs) / HEARTBEAT_EVERY_MS))
  return newestHeartbeatMs + beats * HEARTBEAT_EVERY_MS
}

/** The newest event time of a van that is as late as the progress has moved it; without one a heartbeat did. */
function movedBy(progress: PartitionProgress | null): string | null {
  const progressMs = progress?.feed.progressMs ?? null
  if (progress === null || progressMs === null) return null
  return progress.newestVans.find(({ eventMs }) => eventMs === progressMs)?.van ?? null
}
