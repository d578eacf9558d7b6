import type { LedgerReport, LedgerStation, LedgerStep } from '@km0/contracts/ledger'
import type { LedgerRunView } from '@km0/contracts/ledger-panel'

export interface StationRow extends LedgerStation {
  /** The largest count of all, for bars: 0 to 1; null for what is unknown. */
  readonly share: number | null
}

/** Stations with the length of their bars. */
export function prepareStations({ stations }: Pick<LedgerReport, 'stations'>): StationRow[] {
  const most = Math.max(1, ...stations.map(({ count }) => count ?? 0))
  return stations.map((station) => ({
    ...station,
    parts: station.parts.filter(({ count }) => count > 0),
    share: station.count === null ? null : station.count / most,
  }))
}

/** Steps with what does not balance first, in the order of the way otherwise. */
export function prepareSteps({ steps }: Pick<LedgerReport, 'steps'>): LedgerStep[] {
  return [...steps.filter(({ unnamed }) => unnamed !== 0), ...steps.filter(({ unnamed }) => unnamed === 0)]
}

/** Runs that are not over; oldest first, as they are done. */
export function openRuns(runs: readonly LedgerRunView[]): LedgerRunView[] {
  return runs.filter(({ state }) => state === 'waiting' || state === 'running').reverse()
}

const HOUR_MS = 3_600_000

export type Preset = 'hour' | 'six' | 'day' | 'own'

export const PRESET_HOURS: Readonly<Record<Exclude<Preset, 'own'>, number>> = { hour: 1, six: 6, day: 24 }

/** The span of a preset, which ends now, or of two local times as `datetime-local` writes them; null when they make none. */
export function spanOf(preset: Preset, nowMs: number, from: string, to: string): { readonly fromMs: number; readonly toMs: number } | null {
  if (preset !== 'own') return { fromMs: nowMs - PRESET_HOURS[preset] * HOUR_MS, toMs: nowMs }
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  return Number.isFinite(fromMs) && Number.isFinite(toMs) && toMs > fromMs ? { fromMs, toMs } : null
}

/** An instant as `datetime-local` takes it, in the browser's time zone. */
export function localText(ms: number): string {
  const date = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return date.toISOString().slice(0, 16)
}
