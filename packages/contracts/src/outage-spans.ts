import type { OutageCause, OutageSpan, OutageView } from './panel.ts'

/**
 * Outages of partitions that overlap in time, told as one: from the first beginning to the last end, of the whole platform when every one of
 * `partitionCount` partitions is in it. Oldest first.
 */
export function outageSpans(outages: readonly OutageView[], partitionCount: number): OutageSpan[] {
  const sorted = [...outages].sort((a, b) => a.fromMs - b.fromMs || a.partition - b.partition)
  const groups: OutageView[][] = []
  let endMs = Number.NEGATIVE_INFINITY
  for (const outage of sorted) {
    if (outage.fromMs >= endMs) groups.push([])
    groups.at(-1)?.push(outage)
    endMs = Math.max(endMs, outage.toMs)
  }
  return groups.map((group) => {
    const partitions = [...new Set(group.map((outage) => outage.partition))].sort((a, b) => a - b)
    return {
      partitions: partitions.length >= partitionCount ? null : partitions,
      fromMs: Math.min(...group.map((outage) => outage.fromMs)),
      toMs: Math.max(...group.map((outage) => outage.toMs)),
      cause: commonCause(group),
    }
  })
}

/** The cause that most of them have; one that is known before one that is not. */
function commonCause(group: readonly OutageView[]): OutageCause {
  const counts = new Map<OutageCause, number>()
  for (const { cause } of group) if (cause !== 'unknown') counts.set(cause, (counts.get(cause) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'unknown'
}
