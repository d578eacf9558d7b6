import { metresBetween } from '@km0/contracts/metres-between'
import type { OutageView } from '@km0/contracts/panel'
import type { VanDayRules } from '@km0/contracts/van-day-panel'
import type { Track } from '../playback/track-columns.ts'

export type SpanKind = 'moving' | 'stopped' | 'silent'

/** A stretch of the day in one state. */
export interface TimelineSpan {
  readonly kind: SpanKind
  readonly fromMs: number
  readonly toMs: number
}

/** A stretch in which we could not hear the van. */
export interface OutageStretch {
  readonly fromMs: number
  readonly toMs: number
  readonly cause: OutageView['cause']
}

export interface Timeline {
  /** Side by side from the beginning of the day to its end, or to now. */
  readonly spans: readonly TimelineSpan[]
  readonly outages: readonly OutageStretch[]
  readonly totalMs: Readonly<Record<SpanKind, number>>
}

interface Growing extends TimelineSpan {
  toMs: number
}

/** A stretch of moving or standing that is shorter belongs to the one before it. */
const SHORTEST_MS = 60_000

export interface TimelineInput {
  readonly fromMs: number
  /** End of the day. */
  readonly toMs: number
  readonly nowMs: number
  readonly rules: Pick<VanDayRules, 'sessionGapMs' | 'stopDistanceMm' | 'stopAfterMs'>
  readonly outages: readonly OutageView[]
}

/**
 * The day as stretches. Silent: no point for longer than the gap of sessions, as in section 5 of the semantics. Stopped: nearer than the rule's
 * distance to where it was, or to where it will be, the rule's time away (section 13 looks back only, since it does not know what comes).
 */
export function prepareTimeline(track: Track, input: TimelineInput): Timeline {
  const endMs = Math.max(input.fromMs, Math.min(input.toMs, input.nowMs))
  const spans = endMs > input.fromMs ? joined(smoothed(stretches(track, input, endMs))) : []
  const totalMs = { moving: 0, stopped: 0, silent: 0 }
  for (const { kind, fromMs, toMs } of spans) totalMs[kind] += toMs - fromMs
  const outages = input.outages
    .map(({ fromMs, toMs, cause }) => ({ fromMs: Math.max(fromMs, input.fromMs), toMs: Math.min(toMs, endMs), cause }))
    .filter(({ fromMs, toMs }) => fromMs < toMs)
  return { spans, outages, totalMs }
}

/** Every step between two points is in a state; steps of one state are one stretch. */
function stretches(track: Track, { fromMs, rules }: TimelineInput, endMs: number): TimelineSpan[] {
  const spans: Growing[] = []
  const { eventMs } = track
  const stands = standing(track, rules)
  let lastMs = fromMs
  for (let index = 0; index < track.count; index += 1) {
    const atMs = eventMs[index] ?? 0
    if (atMs >= endMs) break
    const kind = atMs - lastMs > rules.sessionGapMs || index === 0 ? 'silent' : stands(index) ? 'stopped' : 'moving'
    if (atMs > lastMs) add(spans, kind, lastMs, atMs)
    lastMs = Math.max(lastMs, atMs)
  }
  if (endMs > lastMs) {
    // After the newest point nothing is silent before the gap has passed: the next one may be on its way.
    const isSilent = track.count === 0 || endMs - lastMs > rules.sessionGapMs
    const before = spans.at(-1)?.kind ?? 'stopped'
    add(spans, isSilent || before === 'silent' ? 'silent' : before, lastMs, endMs)
  }
  return spans
}

/** Whether the van stands at a point; asked for points in their order, so that looking back and ahead never begins anew. */
function standing(track: Track, { stopDistanceMm, stopAfterMs, sessionGapMs }: TimelineInput['rules']): (index: number) => boolean {
  const time = (index: number) => track.eventMs[index] ?? Number.POSITIVE_INFINITY
  const place = (index: number) => ({ lat: track.lat[index] ?? 0, lon: track.lon[index] ?? 0 })
  let [back, ahead] = [0, 0]
  return (index) => {
    const atMs = time(index)
    while (time(back + 1) <= atMs - stopAfterMs) back += 1
    while (ahead < track.count && time(ahead) < atMs + stopAfterMs) ahead += 1
    const isNear = (other: number) => {
      const awayMs = Math.abs(time(other) - atMs)
      const isThere = other < track.count && awayMs >= stopAfterMs && awayMs <= stopAfterMs + sessionGapMs
      return isThere && metresBetween(place(index), place(other)) * 1_000 < stopDistanceMm
    }
    return isNear(back) || isNear(ahead)
  }
}

function smoothed(spans: readonly TimelineSpan[]): TimelineSpan[] {
  const long: TimelineSpan[] = []
  for (const span of spans) {
    const before = long.at(-1)
    const isShort = span.kind !== 'silent' && span.toMs - span.fromMs < SHORTEST_MS
    if (isShort && before !== undefined && before.kind !== 'silent') long[long.length - 1] = { ...before, toMs: span.toMs }
    else long.push(span)
  }
  return long
}

/** Puts a stretch to the end; one of the same state makes the last one longer. */
function add(spans: Growing[], kind: SpanKind, fromMs: number, toMs: number): void {
  const last = spans.at(-1)
  if (last?.kind === kind) last.toMs = toMs
  else spans.push({ kind, fromMs, toMs })
}

function joined(spans: readonly TimelineSpan[]): TimelineSpan[] {
  const whole: Growing[] = []
  for (const { kind, fromMs, toMs } of spans) add(whole, kind, fromMs, toMs)
  return whole
}
