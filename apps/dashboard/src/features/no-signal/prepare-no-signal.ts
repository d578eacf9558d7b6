import type { AcknowledgementView } from '@km0/contracts/panel'
import type { DeafSpan } from '../feed/prepare-silence.ts'
import { compareNames, type Van } from '../van/prepare-fleet.ts'
import { countNear } from './prepare-near.ts'

/** Red from here on. */
export const LONG_AFTER_MS = 15 * 60_000

export type SilenceBand = 'provisional' | 'episode' | 'long'

export interface NoSignalRow {
  readonly key: string
  readonly van: Van
  readonly band: SilenceBand
  readonly durationMs: number
  readonly lastMs: number
  readonly acknowledgement: AcknowledgementView | null
  /** An outage of ours since the van was heard; null when there was none. */
  readonly outage: DeafSpan | null
  /** The outage lasts: the row stands as it did when it began, and does not count. */
  readonly hidden: boolean
  /** How many other vans are silent near its last position. */
  readonly near: number
}

export interface NoSignalList {
  /** Oldest silence first. */
  readonly rows: readonly NoSignalRow[]
  /** Rows that count: those of vans that we can hear. */
  readonly count: number
  /** Vans that an outage of ours hides. */
  readonly unknown: number
  /** Registered vans without a point today, longest unseen first, never seen at the end. */
  readonly notSeen: readonly Van[]
}

/** Who has been silent for three minutes or more, and who has not been seen today. */
export function prepareNoSignal(
  fleet: readonly Van[],
  acknowledgements: readonly AcknowledgementView[],
  nearDistanceMm: number,
): NoSignalList {
  const byVan = new Map<string, AcknowledgementView[]>()
  for (const ack of acknowledgements) byVan.set(ack.van, [...(byVan.get(ack.van) ?? []), ack])
  const silent = fleet.filter((van) => van.state === 'silent' || van.state === 'provisional')
  const counting = silent.filter((van) => !isHidden(van))
  const rows = silent.flatMap((van) => {
    if (van.lastMs === null || van.silenceMs === null) return []
    return [
      {
        key: van.van,
        van,
        band: bandOf(van),
        durationMs: van.silenceMs,
        lastMs: van.lastMs,
        acknowledgement: acknowledgementOf(van.lastMs, byVan.get(van.van) ?? []),
        outage: van.outage,
        hidden: isHidden(van),
        near: countNear(van, counting, nearDistanceMm),
      },
    ]
  })
  rows.sort((a, b) => a.lastMs - b.lastMs || compareNames(a.van.name, b.van.name))
  const notSeen = fleet.filter((van) => van.registered && (van.state === 'not-seen' || van.state === 'unheard'))
  notSeen.sort((a, b) => (a.lastMs ?? Number.POSITIVE_INFINITY) - (b.lastMs ?? Number.POSITIVE_INFINITY) || compareNames(a.name, b.name))
  const unknown = fleet.filter((van) => van.state === 'unknown').length
  return { rows, count: rows.filter((row) => !row.hidden).length, unknown, notSeen }
}

/** Whether an outage of ours that lasts hides the van. */
export function isHidden(van: Van): boolean {
  return van.outage !== null && van.outage.toMs === null
}

function bandOf(van: Van): SilenceBand {
  if (van.state === 'provisional') return 'provisional'
  return (van.silenceMs ?? 0) >= LONG_AFTER_MS ? 'long' : 'episode'
}

/**
 * The newest acknowledgement of this silence. One holds when it names a time of this silence or before and was made during it: whoever
 * acknowledged the provisional row has acknowledged the episode, even when late points have moved its beginning.
 */
function acknowledgementOf(lastMs: number, acknowledgements: readonly AcknowledgementView[]): AcknowledgementView | null {
  let found: AcknowledgementView | null = null
  for (const ack of acknowledgements) {
    if (ack.sinceMs !== lastMs && ack.atMs < lastMs) continue
    if (ack.sinceMs > lastMs) continue
    if (found === null || ack.atMs > found.atMs) found = ack
  }
  return found
}
