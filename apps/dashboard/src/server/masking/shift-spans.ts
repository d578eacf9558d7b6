import { calendarsOf, type Depot, type Shift, type ShiftCalendar } from '@km0/contracts'

interface Span {
  readonly fromMs: number
  readonly toMs: number
  readonly isOff: boolean
}

const HOUR_MS = 3_600_000
/** A calendar looks at a month for each answer; a track asks it for each of its points. */
const KEPT_SPANS = 32

/** Whether vans of a depot are off shift at an instant. A depot whose shifts nobody has said is never off. */
export class ShiftSpans {
  readonly #calendars: ReadonlyMap<string, ShiftCalendar>
  readonly #known = new Map<string, Span[]>()

  constructor(depots: Iterable<Depot>, shifts: readonly Shift[]) {
    this.#calendars = calendarsOf(depots, shifts)
  }

  isOff(depotId: string | null, atMs: number): boolean {
    const calendar = depotId === null ? undefined : this.#calendars.get(depotId)
    if (depotId === null || calendar === undefined) return false
    const known = this.#known.get(depotId) ?? []
    const found = known.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
    if (found !== undefined) return found.isOff
    const { shift, nextMs, lastEndMs } = calendar.at(atMs)
    const span: Span =
      shift === null
        ? { fromMs: lastEndMs ?? atMs, toMs: nextMs ?? atMs + HOUR_MS, isOff: true }
        : { fromMs: shift.startMs, toMs: shift.endMs, isOff: false }
    this.#known.set(depotId, [span, ...known].slice(0, KEPT_SPANS))
    return span.isOff
  }
}
