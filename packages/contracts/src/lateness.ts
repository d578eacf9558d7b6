/** How late positions arrive: arrival time less event time, counted by steps, so that hours can be added up. */

/** Upper ends of the steps in ms, ascending; a step holds what is at most so late and later than the step before. What is later still has none. */
export const LATENESS_STEPS_MS: readonly number[] = [
  ...steps(0, 2_000, 100),
  ...steps(2_000, 20_000, 500),
  ...steps(20_000, 180_000, 1_000),
  ...steps(180_000, 600_000, 10_000),
  ...steps(600_000, 7_200_000, 60_000),
  ...steps(7_200_000, 86_400_000, 3_600_000),
]

function steps(afterMs: number, toMs: number, everyMs: number): number[] {
  return Array.from({ length: (toMs - afterMs) / everyMs }, (_, index) => afterMs + (index + 1) * everyMs)
}

/** Index of the step that holds a lateness; a point that came before its own time counts as in time. */
export function latenessStep(latenessMs: number): number {
  let [low, high] = [0, LATENESS_STEPS_MS.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((LATENESS_STEPS_MS[middle] as number) >= latenessMs) high = middle
    else low = middle + 1
  }
  return low
}

/** Share of the points that may come after the delay, where nobody says otherwise. */
export const DEFAULT_DELAY_TARGET_SHARE = 0.005

/** Points by step, one count more than there are steps. */
export type LatenessCounts = readonly number[]

export function addCounts(a: LatenessCounts, b: LatenessCounts): number[] {
  return Array.from({ length: LATENESS_STEPS_MS.length + 1 }, (_, index) => (a[index] ?? 0) + (b[index] ?? 0))
}

const totalOf = (counts: LatenessCounts) => counts.reduce((sum, count) => sum + count, 0)

/** Upper end of the step that holds the q-quantile, in ms; null without points, and where it is later than the last step. */
export function latenessQuantile(counts: LatenessCounts, q: number): number | null {
  const rank = Math.max(1, Math.ceil(q * totalOf(counts)))
  let seen = 0
  for (const [index, count] of counts.entries()) {
    seen += count
    if (seen >= rank) return LATENESS_STEPS_MS[index] ?? null
  }
  return null
}

/** Share of the points that a delay covers: those that are at most so late. `delayMs` is the end of a step. Null without points. */
export function coveredShare(counts: LatenessCounts, delayMs: number): number | null {
  const total = totalOf(counts)
  if (total === 0) return null
  const upTo = latenessStep(delayMs)
  return counts.slice(0, upTo + 1).reduce((sum, count) => sum + count, 0) / total
}
