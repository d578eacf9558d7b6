import type { Recovery } from './run.ts'

/** Table of recoveries by kind of fault, slowest kinds first: how many, median and longest, those beside another fault in brackets. */
export function recoveryTable(recoveries: readonly Recovery[]): string[] {
  const byName = new Map<string, Recovery[]>()
  for (const recovery of recoveries) byName.set(recovery.name, [...(byName.get(recovery.name) ?? []), recovery])
  const rows = [...byName].map(([name, all]) => {
    const took = all.flatMap(({ tookMs }) => (tookMs === null ? [] : [tookMs])).sort((a, b) => a - b)
    return {
      name,
      count: all.length,
      medianMs: took[Math.floor((took.length - 1) / 2)],
      longestMs: took.at(-1),
      failed: all.length - took.length,
    }
  })
  rows.sort((a, b) => (b.longestMs ?? Number.POSITIVE_INFINITY) - (a.longestMs ?? Number.POSITIVE_INFINITY))
  const seconds = (ms: number | undefined) => (ms === undefined ? '–' : (ms / 1000).toFixed(1))
  return [
    '| fault | times | median s | longest s |',
    '|---|---|---|---|',
    ...rows.map(
      ({ name, count, medianMs, longestMs, failed }) =>
        `| ${name} | ${count}${failed === 0 ? '' : ` (${failed} not back)`} | ${seconds(medianMs)} | ${seconds(longestMs)} |`,
    ),
  ]
}
