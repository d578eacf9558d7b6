import type { PanelPoint, RegisteredVan } from '@km0/contracts/panel'
import { madridDay } from '../feed/madrid-day.ts'
import type { PanelModel } from '../feed/panel-model.ts'
import type { FeedStatus } from '../feed/prepare-feed.ts'
import { type DeafSpan, DeafSpans, silenceOf } from '../feed/prepare-silence.ts'

/** From here on a van without data is listed, provisionally until `senyal` says so. */
export const PROVISIONAL_AFTER_MS = 180_000
/** A van that was last heard yesterday leaves the list of episodes only when it has been silent for this long too: midnight hides nothing. */
export const NOT_SEEN_AFTER_MS = 3_600_000
/** From here on a marker shows its age. */
export const AGE_SHOWN_AFTER_MS = 60_000

/** From here on a van that was not heard for a reason of ours, and has not been since, is shown as unknown. */
export const UNKNOWN_AFTER_MS = 60_000

/**
 * `moving`, `stopped`: heard. `unknown`: an outage of ours has hidden it, and it has not been heard since. `provisional`: no data for 3 minutes, not yet confirmed by the stream job. `silent`: a confirmed episode.
 * `not-seen`: no point today. `unheard`: no point at all.
 */
export type VanState = 'moving' | 'stopped' | 'unknown' | 'provisional' | 'silent' | 'not-seen' | 'unheard'

export interface Van {
  readonly van: string
  readonly name: string
  readonly plate: string | null
  readonly depotId: string | null
  readonly depotName: string | null
  readonly registered: boolean
  readonly point: PanelPoint | null
  readonly place: string | null
  readonly state: VanState
  /** Event time of the last sign of the van: of its newest point, or of the silence that the stream job found. */
  readonly lastMs: number | null
  /** How long nothing has come while we could hear. */
  readonly silenceMs: number | null
  /** The newest outage of ours since the van was heard; null when there was none. */
  readonly outage: DeafSpan | null
  /** Identity of the silence: what an acknowledgement names. */
  readonly sinceMs: number | null
  readonly doubtful: boolean
}

/** Every van that is registered and in service, or was heard; by name, numbers in their order. */
export function prepareFleet(model: PanelModel, feed: FeedStatus, nowMs: number): Van[] {
  const names = new Set([...model.points.keys(), ...model.signals.keys()])
  for (const van of model.registered.values()) if (isInService(van, nowMs)) names.add(van.van)
  const today = madridDay(nowMs)
  const deaf = new DeafSpans(model, feed)
  const vans = [...names].map((name) => prepareVan(name, model, deaf, nowMs, today))
  return vans.sort((a, b) => compareNames(a.name, b.name))
}

const COLLATOR = new Intl.Collator('ca', { numeric: true, sensitivity: 'base' })

export function compareNames(a: string, b: string): number {
  return COLLATOR.compare(a, b)
}

function isInService(van: RegisteredVan, nowMs: number): boolean {
  return (van.inServiceFromMs ?? Number.NEGATIVE_INFINITY) <= nowMs && nowMs < (van.inServiceToMs ?? Number.POSITIVE_INFINITY)
}

function prepareVan(van: string, model: PanelModel, deaf: DeafSpans, nowMs: number, today: string): Van {
  const registered = model.registered.get(van)
  const point = model.points.get(van) ?? null
  const signal = model.signals.get(van)
  const depotId = registered?.depotId ?? null
  const silentSinceMs = signal?.state === 'no-signal' ? signal.sinceMs : null
  const lastMs = newest(point?.eventMs ?? null, silentSinceMs)
  const silence = lastMs === null ? null : silenceOf(lastMs, nowMs, deaf.of(point?.partition ?? null), PROVISIONAL_AFTER_MS)
  const state =
    lastMs === null || silence === null
      ? 'unheard'
      : stateOf({
          point,
          silenceMs: silence.silenceMs,
          unseenMs: silence.knownUntilMs - lastMs,
          isToday: madridDay(lastMs) === today,
          confirmed: silentSinceMs !== null,
          hiddenMs: silence.outage === null ? 0 : nowMs - lastMs,
        })
  return {
    van,
    name: registered?.name ?? van,
    plate: registered?.plate ?? null,
    depotId,
    depotName: depotId === null ? null : (model.depots.get(depotId)?.name ?? depotId),
    registered: registered !== undefined,
    point,
    place: point?.place ?? null,
    state,
    lastMs,
    silenceMs: silence?.silenceMs ?? null,
    outage: silence?.outage ?? null,
    sinceMs: state === 'silent' ? silentSinceMs : lastMs,
    doubtful: point?.doubtful ?? false,
  }
}

function stateOf(given: {
  readonly point: PanelPoint | null
  /** While we could hear. */
  readonly silenceMs: number
  /** Since the last sign of the van, as far as we have heard. */
  readonly unseenMs: number
  readonly isToday: boolean
  /** The stream job says that the van has no signal. */
  readonly confirmed: boolean
  /** Since the last sign of a van that an outage of ours has hidden, else 0. */
  readonly hiddenMs: number
}): VanState {
  if (!given.isToday && given.unseenMs >= NOT_SEEN_AFTER_MS) return 'not-seen'
  if (given.silenceMs >= PROVISIONAL_AFTER_MS) return given.confirmed ? 'silent' : 'provisional'
  if (given.hiddenMs >= UNKNOWN_AFTER_MS) return 'unknown'
  return given.point === null ? 'silent' : given.point.motion
}

function newest(a: number | null, b: number | null): number | null {
  if (a === null) return b
  return b === null ? a : Math.max(a, b)
}
