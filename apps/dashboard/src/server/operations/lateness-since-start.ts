import { LATENESS_STEPS_MS, latenessStep } from '@km0/contracts'
import type { StoredLatenessHour } from '@km0/serving'
import type { ProgramFacts } from './program-facts.ts'

/**
 * What the bridges have counted since they began, in the form of one measured hour, for installations without a lake: its steps are those of the
 * bridge's histogram, and a restart begins anew. null while no bridge has counted anything.
 */
export function latenessSinceStart(programs: readonly ProgramFacts[], nowMs: number): StoredLatenessHour | null {
  const samplesOf = (name: string) => programs.flatMap(({ metrics }) => metrics.get(name) ?? [])
  const cumulative = new Map<number, number>()
  for (const { labels, value } of samplesOf('km0_bridge_lateness_seconds_bucket')) {
    const upToS = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
    cumulative.set(upToS, (cumulative.get(upToS) ?? 0) + value)
  }
  const counts = new Array<number>(LATENESS_STEPS_MS.length + 1).fill(0)
  let before = 0
  for (const [upToS, count] of [...cumulative].sort(([a], [b]) => a - b)) {
    counts[latenessStep(upToS * 1_000)]! += count - before
    before = count
  }
  if (before === 0) return null
  const late = (reason: string) =>
    samplesOf('km0_stream_late_total').reduce((sum, { labels, value }) => (labels.reason === reason ? sum + value : sum), 0)
  const starts = programs.flatMap(({ metrics }) =>
    metrics.has('km0_bridge_lateness_seconds_bucket') ? (metrics.get('process_start_time_seconds') ?? []) : [],
  )
  const hourMs = starts.length === 0 ? nowMs : Math.round(Math.min(...starts.map(({ value }) => value)) * 1_000)
  return { hourMs, points: before, late: late('tard'), partlyLate: late('parcial'), counts, refused: {}, measuredAtMs: nowMs }
}
