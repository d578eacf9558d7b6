import { type DispatchView, EMPTY_DISPATCH, type MuteView } from '@km0/contracts/dispatch'
import type { AcknowledgementView } from '@km0/contracts/panel'
import type { DeafSpan } from '../feed/prepare-silence.ts'
import { compareNames, type Van, type VanState } from '../van/prepare-fleet.ts'
import { type Correction, correctionOf, prepareReturned, type ReturnedRow } from './prepare-corrections.ts'
import { countNear } from './prepare-near.ts'

/** By steps: from the first listed, at first without the stream job's word; `long` from the second, `very-long` from the third. */
export type SilenceBand = 'provisional' | 'episode' | 'long' | 'very-long'

export interface NoSignalRow {
  readonly key: string
  readonly van: Van
  readonly band: SilenceBand
  /** How many steps the silence has reached: 1, 2 or 3. */
  readonly step: number
  readonly durationMs: number
  readonly lastMs: number
  readonly acknowledgement: AcknowledgementView | null
  /** An outage of ours since the van was heard; null when there was none. */
  readonly outage: DeafSpan | null
  /** The outage lasts: the row stands as it did when it began, and does not count. */
  readonly hidden: boolean
  /** How many other vans are silent near its last position. */
  readonly near: number
  /** What late points say of it; null while they say nothing. */
  readonly correction: Correction | null
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
  /** Silent vans that somebody has muted, oldest silence first. */
  readonly muted: readonly NoSignalRow[]
  /** In force, newest first. */
  readonly mutes: readonly MuteView[]
  readonly away: AwayList
  /** Heard again a moment ago, newest first. */
  readonly returned: readonly ReturnedRow[]
}

/** Vans that nobody expects to hear, by name. */
export interface AwayList {
  readonly off: readonly Van[]
  readonly atDepot: readonly Van[]
  readonly retired: readonly Van[]
  /** Off shift or retired, and heard all the same. */
  readonly heard: readonly Van[]
  /** Not in the register, and in no other list: those that are heard, and those that were, another day. Silent ones stand among the silent. */
  readonly unregistered: readonly Van[]
}

/** Who has been silent for three minutes or more, and who has not been seen today. */
export function prepareNoSignal(
  fleet: readonly Van[],
  acknowledgements: readonly AcknowledgementView[],
  nearDistanceMm: number,
  dispatch: DispatchView = EMPTY_DISPATCH,
  nowMs = 0,
): NoSignalList {
  const byVan = new Map<string, AcknowledgementView[]>()
  for (const ack of acknowledgements) byVan.set(ack.van, [...(byVan.get(ack.van) ?? []), ack])
  const silent = fleet.filter((van) => van.state === 'silent' || van.state === 'provisional')
  const counting = silent.filter((van) => !isHidden(van) && van.mute === null)
  const { silenceStepsMs } = dispatch.limits
  const open = new Map(dispatch.episodes.filter(({ endedMs }) => endedMs === null).map((episode) => [episode.van, episode]))
  const all = silent.flatMap((van) => {
    if (van.lastMs === null || van.silenceMs === null) return []
    return [
      {
        key: van.van,
        van,
        band: bandOf(van, stepOf(van.silenceMs, silenceStepsMs)),
        step: stepOf(van.silenceMs, silenceStepsMs),
        durationMs: van.silenceMs,
        lastMs: van.lastMs,
        acknowledgement: acknowledgementOf(van.lastMs, byVan.get(van.van) ?? []),
        outage: van.outage,
        hidden: isHidden(van),
        near: countNear(van, counting, nearDistanceMm),
        correction: correctionOf(open.get(van.van), nowMs),
      },
    ]
  })
  all.sort((a, b) => a.lastMs - b.lastMs || compareNames(a.van.name, b.van.name))
  const rows = all.filter(({ van }) => van.mute === null)
  const muted = all.filter(({ van }) => van.mute !== null)
  const notSeen = fleet.filter((van) => van.registered && (van.state === 'not-seen' || van.state === 'unheard'))
  notSeen.sort((a, b) => (a.lastMs ?? Number.POSITIVE_INFINITY) - (b.lastMs ?? Number.POSITIVE_INFINITY) || compareNames(a.name, b.name))
  const unknown = fleet.filter((van) => van.state === 'unknown').length
  return {
    rows,
    count: rows.filter((row) => !row.hidden).length,
    unknown,
    notSeen,
    muted,
    mutes: dispatch.mutes.filter(({ untilMs }) => untilMs === null || untilMs > nowMs),
    away: prepareAway(fleet),
    returned: prepareReturned(fleet, dispatch, nowMs),
  }
}

/** Whether an outage of ours that lasts hides the van. */
export function isHidden(van: Van): boolean {
  return van.outage !== null && van.outage.toMs === null
}

/** How many steps a silence has reached. */
function stepOf(silenceMs: number, steps: readonly number[]): number {
  return steps.filter((stepMs) => silenceMs >= stepMs).length
}

function bandOf(van: Van, step: number): SilenceBand {
  if (van.state === 'provisional' && step < 2) return 'provisional'
  return step >= 3 ? 'very-long' : step === 2 ? 'long' : 'episode'
}

/** States in which a van that is not registered is in no other list. */
const UNLISTED: ReadonlySet<VanState> = new Set(['moving', 'stopped', 'not-seen', 'unheard'])

function prepareAway(fleet: readonly Van[]): AwayList {
  const away = fleet.filter(({ state }) => state === 'away')
  const unexpected = fleet.filter(
    ({ state, duty }) => (state === 'moving' || state === 'stopped') && (duty === 'off' || duty === 'retired'),
  )
  return {
    off: away.filter(({ duty }) => duty === 'off'),
    atDepot: away.filter(({ duty }) => duty === 'at-depot'),
    retired: away.filter(({ duty }) => duty === 'retired'),
    heard: unexpected,
    unregistered: fleet.filter((van) => !van.registered && UNLISTED.has(van.state)),
  }
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
