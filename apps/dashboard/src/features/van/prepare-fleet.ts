import type { PanelPoint, RegisteredVan } from '@km0/contracts/panel'
import { madridDay } from '../feed/madrid-day.ts'
import type { PanelModel } from '../feed/panel-model.ts'
import { type FeedStatus, knownUntilMs } from '../feed/prepare-feed.ts'

/** From here on a van without data is listed, provisionally until `senyal` says so. */
export const PROVISIONAL_AFTER_MS = 180_000
/** A van that was last heard yesterday leaves the list of episodes only when it has been silent for this long too: midnight hides nothing. */
export const NOT_SEEN_AFTER_MS = 3_600_000
/** From here on a marker shows its age. */
export const AGE_SHOWN_AFTER_MS = 60_000

/**
 * `moving`, `stopped`: heard. `provisional`: no data for 3 minutes, not yet confirmed by the stream job. `silent`: a confirmed episode.
 * `not-seen`: no point today. `unheard`: no point at all.
 */
export type VanState = 'moving' | 'stopped' | 'provisional' | 'silent' | 'not-seen' | 'unheard'

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
  /** How long nothing has come, as far as that is known. */
  readonly silenceMs: number | null
  /** Identity of the silence: what an acknowledgement names. */
  readonly sinceMs: number | null
  readonly doubtful: boolean
}

/** Every van that is registered and in service, or was heard; by name, numbers in their order. */
export function prepareFleet(model: PanelModel, feed: FeedStatus, nowMs: number): Van[] {
  const names = new Set([...model.points.keys(), ...model.signals.keys()])
  for (const van of model.registered.values()) if (isInService(van, nowMs)) names.add(van.van)
  const today = madridDay(nowMs)
  const vans = [...names].map((name) => prepareVan(name, model, feed, nowMs, today))
  return vans.sort((a, b) => compareNames(a.name, b.name))
}

const COLLATOR = new Intl.Collator('ca', { numeric: true, sensitivity: 'base' })

export function compareNames(a: string, b: string): number {
  return COLLATOR.compare(a, b)
}

function isInService(van: RegisteredVan, nowMs: number): boolean {
  return (van.inServiceFromMs ?? Number.NEGATIVE_INFINITY) <= nowMs && nowMs < (van.inServiceToMs ?? Number.POSITIVE_INFINITY)
}

function prepareVan(van: string, model: PanelModel, feed: FeedStatus, nowMs: number, today: string): Van {
  const registered = model.registered.get(van)
  const point = model.points.get(van) ?? null
  const signal = model.signals.get(van)
  const depotId = registered?.depotId ?? null
  const silentSinceMs = signal?.state === 'no-signal' ? signal.sinceMs : null
  const lastMs = newest(point?.eventMs ?? null, silentSinceMs)
  const untilMs = knownUntilMs(model.feed, feed, point?.partition ?? null, nowMs)
  const silenceMs = lastMs === null || untilMs === null ? null : Math.max(0, untilMs - lastMs)
  const state = stateOf({ point, lastMs, silenceMs, silentSinceMs, isToday: lastMs !== null && madridDay(lastMs) === today })
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
    silenceMs,
    sinceMs: state === 'silent' ? silentSinceMs : lastMs,
    doubtful: point?.doubtful ?? false,
  }
}

function stateOf(given: {
  readonly point: PanelPoint | null
  readonly lastMs: number | null
  readonly silenceMs: number | null
  readonly silentSinceMs: number | null
  readonly isToday: boolean
}): VanState {
  const { point, lastMs, silenceMs } = given
  if (lastMs === null) return 'unheard'
  if (silenceMs !== null && silenceMs >= PROVISIONAL_AFTER_MS) {
    if (!given.isToday && silenceMs >= NOT_SEEN_AFTER_MS) return 'not-seen'
    return given.silentSinceMs === null ? 'provisional' : 'silent'
  }
  if (point === null) return 'silent'
  return point.motion
}

function newest(a: number | null, b: number | null): number | null {
  if (a === null) return b
  return b === null ? a : Math.max(a, b)
}
