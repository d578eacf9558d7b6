import type { NoSignalRow } from './prepare-no-signal.ts'

/** Steps that this browser has been told of, by van, as long as its silence lasts. */
export type Told = ReadonlyMap<string, number>

/** A silence that has reached a step that was not told yet. */
export interface Notice {
  readonly key: string
  readonly van: string
  readonly place: string | null
  readonly step: number
  readonly minutes: number
}

/**
 * What is new since `told`: of each silence the highest step that it has reached, once. Silences that an outage of ours hides, and those that
 * somebody has taken on, are not told. With `told` null (the page was just opened) nothing is: what is there can be seen.
 */
export function prepareNotices(
  rows: readonly NoSignalRow[],
  told: Told | null,
): { readonly notices: readonly Notice[]; readonly told: Told } {
  const next = new Map<string, number>()
  const notices: Notice[] = []
  for (const row of rows) {
    const known = told?.get(row.key) ?? 0
    // While we cannot hear, nobody goes a step further.
    const step = row.hidden && told !== null ? known : Math.max(known, row.step)
    next.set(row.key, step)
    if (told === null || row.hidden || row.acknowledgement !== null || step <= known) continue
    notices.push({ key: row.key, van: row.van.name, place: row.van.place, step, minutes: Math.floor(row.durationMs / 60_000) })
  }
  return { notices, told: next }
}
