/** One kill -9 and what followed. */
export interface Sample {
  readonly part: string
  /** From the kill to a result that was measured after it, in ms; null when none came in time. */
  readonly tookMs: number | null
  /** From the kill to the process that took its place, in ms. */
  readonly backMs: number | null
}

export interface Row {
  readonly part: string
  readonly times: number
  readonly notBack: number
  readonly medianMs: number | null
  readonly longestMs: number | null
  readonly medianBackMs: number | null
}

const median = (values: readonly number[]): number | null => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null

/** One row a part, in the order in which parts first occur. */
export function rowsOf(samples: readonly Sample[]): Row[] {
  return [...new Set(samples.map(({ part }) => part))].map((part) => {
    const own = samples.filter((sample) => sample.part === part)
    const took = own.flatMap(({ tookMs }) => (tookMs === null ? [] : [tookMs]))
    return {
      part,
      times: own.length,
      notBack: own.length - took.length,
      medianMs: median(took),
      longestMs: took.length === 0 ? null : Math.max(...took),
      medianBackMs: median(own.flatMap(({ backMs }) => (backMs === null ? [] : [backMs]))),
    }
  })
}

/** A table in Markdown; `goalMs` tells the goal of a part, null for none. */
export function tableOf(rows: readonly Row[], goalMs: (part: string) => number | null): string[] {
  const seconds = (ms: number | null) => (ms === null ? '–' : (ms / 1000).toFixed(1))
  return [
    '| killed | times | process back, median s | results, median s | longest s | goal |',
    '|---|---|---|---|---|---|',
    ...rows.map(({ part, times, notBack, medianBackMs, medianMs, longestMs }) => {
      const goal = goalMs(part)
      const met = goal === null ? '–' : notBack === 0 && longestMs !== null && longestMs < goal ? 'met' : 'missed'
      const count = notBack === 0 ? String(times) : `${times} (${notBack} not back)`
      return `| ${part} | ${count} | ${seconds(medianBackMs)} | ${seconds(medianMs)} | ${seconds(longestMs)} | ${met} |`
    }),
  ]
}
