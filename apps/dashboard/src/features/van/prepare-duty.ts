import type { MuteView } from '@km0/contracts/dispatch'
import type { Period } from '@km0/contracts/madrid'
import { metresBetween } from '@km0/contracts/metres-between'
import type { Depot, PanelPoint, RegisteredVan } from '@km0/contracts/panel'
import { calendarsOf, type ShiftCalendar, type ShiftNow } from '@km0/contracts/shift-calendar'
import type { PanelModel } from '../feed/panel-model.ts'

/**
 * Whether anybody expects to hear a van. `on`, `off`: by its depot's calendar. `at-depot`: no calendar, and its last point is near its depot.
 * `retired`: out of service, or not yet in it. `open`: nothing says that it is not at work.
 */
export type Duty = 'on' | 'off' | 'at-depot' | 'retired' | 'open'

/** What is known of the duty of vans at one instant: calendars, mutes and who is outside the zones, looked up once. */
export class Duties {
  readonly #nowMs: number
  readonly #depots: ReadonlyMap<string, Depot>
  readonly #depotDistanceM: number
  readonly #calendars: ReadonlyMap<string, ShiftCalendar>
  readonly #mutes = new Map<string, MuteView>()
  readonly #outside: ReadonlySet<string>

  constructor(model: Pick<PanelModel, 'depots' | 'dispatch'>, nowMs: number) {
    const { dispatch } = model
    this.#nowMs = nowMs
    this.#depots = model.depots
    this.#depotDistanceM = dispatch.limits.depotDistanceMm / 1_000
    this.#calendars = knownCalendars(model)
    this.#outside = new Set(dispatch.outside)
    for (const mute of dispatch.mutes) {
      if (mute.untilMs === null || mute.untilMs > nowMs) this.#mutes.set(`${mute.kind} ${mute.subject}`, mute)
    }
  }

  /** The mute in force of a van, its own before its depot's. */
  muteOf(van: string, depotId: string | null): MuteView | null {
    return this.#mutes.get(`van ${van}`) ?? this.#mutes.get(`depot ${depotId}`) ?? null
  }

  isOutside(van: string): boolean {
    return this.#outside.has(van)
  }

  /** Of a van, and the shift in force. */
  dutyOf(registered: RegisteredVan | undefined, point: PanelPoint | null): { readonly duty: Duty; readonly shift: Period | null } {
    if (registered === undefined) return { duty: 'open', shift: null }
    if (!isInService(registered, this.#nowMs)) return { duty: 'retired', shift: null }
    const calendar = this.#calendars.get(registered.depotId ?? '')
    if (calendar !== undefined) {
      const { shift } = shiftNow(calendar, this.#nowMs)
      return { duty: shift === null ? 'off' : 'on', shift }
    }
    const depot = this.#depots.get(registered.depotId ?? '')
    const near = depot !== undefined && point !== null && metresBetween(depot, point) <= this.#depotDistanceM
    return { duty: near ? 'at-depot' : 'open', shift: null }
  }
}

export function isInService(van: RegisteredVan, nowMs: number): boolean {
  return (van.inServiceFromMs ?? Number.NEGATIVE_INFINITY) <= nowMs && nowMs < (van.inServiceToMs ?? Number.POSITIVE_INFINITY)
}

/** Calendars by what they are made of, and what each said last: fleets are prepared many times a second. */
const calendars = new WeakMap<object, { readonly depots: object; readonly calendars: ReadonlyMap<string, ShiftCalendar> }>()
const answers = new WeakMap<ShiftCalendar, { readonly fromMs: number; readonly untilMs: number; readonly now: ShiftNow }>()

function knownCalendars({ depots, dispatch }: Pick<PanelModel, 'depots' | 'dispatch'>): ReadonlyMap<string, ShiftCalendar> {
  const known = calendars.get(dispatch.shifts)
  if (known !== undefined && known.depots === depots) return known.calendars
  const made = calendarsOf(depots.values(), dispatch.shifts)
  calendars.set(dispatch.shifts, { depots, calendars: made })
  return made
}

/** An answer holds until the shift ends or the next begins; an hour at most, since none is looked for far ahead. */
function shiftNow(calendar: ShiftCalendar, nowMs: number): ShiftNow {
  const known = answers.get(calendar)
  if (known !== undefined && known.fromMs <= nowMs && nowMs < known.untilMs) return known.now
  const now = calendar.at(nowMs)
  const untilMs = Math.min(nowMs + 3_600_000, now.shift?.endMs ?? Number.POSITIVE_INFINITY, now.nextMs ?? Number.POSITIVE_INFINITY)
  answers.set(calendar, { fromMs: nowMs, untilMs, now })
  return now
}
