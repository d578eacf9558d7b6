import type { MuteView } from '@km0/contracts/dispatch'
import type { Period } from '@km0/contracts/madrid'
import { madridDate } from '@km0/contracts/madrid'
import type { PanelPoint } from '@km0/contracts/panel'
import type { PanelModel } from '../feed/panel-model.ts'
import type { FeedStatus } from '../feed/prepare-feed.ts'
import { type DeafSpan, DeafSpans, silenceOf } from '../feed/prepare-silence.ts'
import { Duties, type Duty } from './prepare-duty.ts'

/** A van that was last heard yesterday leaves the list of episodes only when it has been silent for this long too: midnight hides nothing. */
export const NOT_SEEN_AFTER_MS = 3_600_000
/** A van that was heard so shortly before its shift began was at work already. */
export const BEFORE_SHIFT_MS = 3_600_000
const DAY_MS = 86_400_000
/** From here on a marker shows its age. */
export const AGE_SHOWN_AFTER_MS = 60_000

/** From here on a van that was not heard for a reason of ours, and has not been since, is shown as unknown. */
export const UNKNOWN_AFTER_MS = 60_000

/**
 * `moving`, `stopped`: heard. `unknown`: an outage of ours has hidden it, and it has not been heard since. `provisional`: no data for 3 minutes, not yet confirmed by the stream job. `silent`: a confirmed episode.
 * `not-seen`: no point today, or in this shift. `unheard`: no point at all. `away`: not heard, and nobody expects it: off shift, at its depot or
 * out of service.
 */
export type VanState = 'moving' | 'stopped' | 'unknown' | 'provisional' | 'silent' | 'not-seen' | 'unheard' | 'away'

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
  readonly duty: Duty
  /** In force at its depot; null without a calendar and between shifts. */
  readonly shift: Period | null
  /** Nobody wants to hear of its silence for now. */
  readonly mute: MuteView | null
  /** Its last point lies outside the zones of its depot's markets. */
  readonly outside: boolean
}

/** Every van that is registered and in service, or was heard; by name, numbers in their order. Vans out of service are there too, as `away`. */
export function prepareFleet(model: PanelModel, feed: FeedStatus, nowMs: number): Van[] {
  const names = new Set([...model.points.keys(), ...model.signals.keys()])
  for (const van of model.registered.keys()) names.add(van)
  const today = madridDate(nowMs)
  const deaf = new DeafSpans(model, feed)
  const duties = new Duties(model, nowMs)
  const vans = [...names].map((name) => prepareVan(name, model, deaf, duties, nowMs, today))
  const rank = ORDER.ranks(vans)
  return vans.sort((a, b) => (rank.get(a.name) ?? 0) - (rank.get(b.name) ?? 0))
}

/** Places of names in their order. Comparing 10,000 names takes a tenth of a second; they are the same a second later. */
class NameOrder {
  #ranks: ReadonlyMap<string, number> = new Map()

  ranks(vans: readonly { readonly name: string }[]): ReadonlyMap<string, number> {
    if (vans.some(({ name }) => !this.#ranks.has(name))) {
      const names = [...new Set(vans.map(({ name }) => name))].sort(compareNames)
      this.#ranks = new Map(names.map((name, rank) => [name, rank]))
    }
    return this.#ranks
  }
}
const ORDER = new NameOrder()

const COLLATOR = new Intl.Collator('ca', { numeric: true, sensitivity: 'base' })

export function compareNames(a: string, b: string): number {
  return COLLATOR.compare(a, b)
}

function prepareVan(van: string, model: PanelModel, deaf: DeafSpans, duties: Duties, nowMs: number, today: string): Van {
  const registered = model.registered.get(van)
  const point = model.points.get(van) ?? null
  const signal = model.signals.get(van)
  const depotId = registered?.depotId ?? null
  const silentSinceMs = signal?.state === 'no-signal' ? signal.sinceMs : null
  const lastMs = newest(point?.eventMs ?? null, silentSinceMs)
  const [listedAfterMs] = model.dispatch.limits.silenceStepsMs
  const silence = lastMs === null ? null : silenceOf(lastMs, nowMs, deaf.of(point?.partition ?? null), listedAfterMs)
  const { duty, shift } = duties.dutyOf(registered, point)
  const heardState =
    lastMs === null || silence === null
      ? 'unheard'
      : stateOf({
          point,
          silenceMs: silence.silenceMs,
          unseenMs: silence.knownUntilMs - lastMs,
          // Only asked of whoever was not seen for so long: of 10,000 vans the day of each is not worth knowing every second.
          isToday: silence.knownUntilMs - lastMs < NOT_SEEN_AFTER_MS || isOfNow(lastMs, shift, today),
          listedAfterMs,
          confirmed: silentSinceMs !== null,
          hiddenMs: silence.outage === null ? 0 : nowMs - lastMs,
        })
  const state = awayOr(heardState, duty)
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
    duty,
    shift,
    mute: duties.muteOf(van, depotId),
    outside: duties.isOutside(van),
  }
}

/** Whether a sign is of the shift in force; where there is none, or it goes on around the clock, of today. */
function isOfNow(lastMs: number, shift: Period | null, today: string): boolean {
  if (shift === null || shift.endMs - shift.startMs >= DAY_MS) return madridDate(lastMs) === today
  return lastMs >= shift.startMs - BEFORE_SHIFT_MS
}

/** Silence of a van that nobody expects to hear is none; one that is heard is shown, whoever expects it. */
function awayOr(state: VanState, duty: Duty): VanState {
  if (duty === 'on' || duty === 'open' || state === 'moving' || state === 'stopped' || state === 'unknown') return state
  return 'away'
}

function stateOf(given: {
  readonly point: PanelPoint | null
  /** While we could hear. */
  readonly silenceMs: number
  /** Since the last sign of the van, as far as we have heard. */
  readonly unseenMs: number
  /** The last sign is of today, or of the shift in force. */
  readonly isToday: boolean
  readonly listedAfterMs: number
  /** The stream job says that the van has no signal. */
  readonly confirmed: boolean
  /** Since the last sign of a van that an outage of ours has hidden, else 0. */
  readonly hiddenMs: number
}): VanState {
  if (!given.isToday && given.unseenMs >= NOT_SEEN_AFTER_MS) return 'not-seen'
  if (given.silenceMs >= given.listedAfterMs) return given.confirmed ? 'silent' : 'provisional'
  if (given.hiddenMs >= UNKNOWN_AFTER_MS) return 'unknown'
  return given.point === null ? 'silent' : given.point.motion
}

function newest(a: number | null, b: number | null): number | null {
  if (a === null) return b
  return b === null ? a : Math.max(a, b)
}
