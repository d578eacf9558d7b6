import type {
  BatchPoint,
  DaysView,
  DayVan,
  DayView,
  DispatchView,
  PanelDelta,
  PanelPoint,
  PanelSnapshot,
  PlatformEvent,
  TrailPoint,
} from '@km0/contracts'
import { gridCentre } from '@km0/contracts/grid'
import type { Pseudonyms } from './pseudonyms.ts'

type Parts = Pick<PanelDelta, 'points' | 'signals' | 'distances' | 'acknowledgements' | 'dispatch'>

/** A point on the grid: what would tell where in the cell it was goes too. */
export function coarsePoint<P extends Pick<BatchPoint, 'lat' | 'lon' | 'headingDegrees'>>(point: P, gridM: number): P {
  const [lat, lon] = gridCentre(point.lat, point.lon, gridM)
  return { ...point, lat, lon, headingDegrees: null, ...('place' in point ? { place: null } : {}) }
}

export function coarseTrail([lon, lat, atMs]: TrailPoint, gridM: number): TrailPoint {
  const [rowLat, columnLon] = gridCentre(lat, lon, gridM)
  return [columnLon, rowLat, atMs]
}

/** Views for whoever need not know which van it is: pseudonyms, places on a grid, no plates, no names, no notes of people. Depots stay. */
export class MaskedViews {
  readonly #names: Pseudonyms
  readonly #gridM: number

  constructor(names: Pseudonyms, gridM: number) {
    this.#names = names
    this.#gridM = gridM
  }

  snapshot(view: PanelSnapshot): PanelSnapshot {
    return {
      ...view,
      registered: view.registered.map((van) => ({ ...van, van: this.#names.of(van.van), name: this.#names.of(van.van), plate: null })),
      ...this.#parts(view),
    } as PanelSnapshot
  }

  delta(view: PanelDelta): PanelDelta {
    return { ...view, ...this.#parts(view) }
  }

  batch(points: readonly BatchPoint[]): BatchPoint[] {
    return points.map((point) => coarsePoint(point, this.#gridM))
  }

  trail(points: readonly TrailPoint[]): TrailPoint[] {
    return points.map((point) => coarseTrail(point, this.#gridM))
  }

  days(view: DaysView): DaysView {
    return {
      ...view,
      vans: view.vans.map((van) => this.#dayVan(van)),
      cells: view.cells.map(this.#named),
      late: view.late.map(this.#named),
    }
  }

  day(view: DayView): DayView {
    // What a certificate found is told in words that may name vans.
    return { ...view, van: this.#dayVan(view.van), certificates: view.certificates.map((found) => ({ ...found, detail: '' })) }
  }

  /** Its key names the van: it is called by its number. */
  event(event: PlatformEvent): PlatformEvent {
    if (!('van' in event)) return event
    const masked = { ...event, key: maskedKey(event.id), van: this.#names.of(event.van) }
    if (masked.kind !== 'no-signal' || masked.lat === null || masked.lon === null) return masked
    const [lat, lon] = gridCentre(masked.lat, masked.lon, this.#gridM)
    return { ...masked, lat, lon }
  }

  readonly #named = <T extends { readonly van: string }>(row: T): T => ({ ...row, van: this.#names.of(row.van) })

  #parts({ points, signals, distances, acknowledgements, dispatch }: Parts): Parts {
    return {
      ...(points === undefined ? {} : { points: points.map((point: PanelPoint) => this.#named(coarsePoint(point, this.#gridM))) }),
      ...(signals === undefined ? {} : { signals: signals.map(this.#named) }),
      ...(distances === undefined ? {} : { distances: distances.map(this.#named) }),
      ...(acknowledgements === undefined ? {} : { acknowledgements: acknowledgements.map((row) => ({ ...this.#named(row), note: '' })) }),
      ...(dispatch === undefined ? {} : { dispatch: this.#dispatch(dispatch) }),
    }
  }

  #dispatch(view: DispatchView): DispatchView {
    return {
      ...view,
      mutes: view.mutes.map((mute) => ({ ...mute, note: '', ...(mute.kind === 'van' ? { subject: this.#names.of(mute.subject) } : {}) })),
      usual: view.usual === null ? null : { ...view.usual, vans: view.usual.vans.map(this.#named) },
      episodes: view.episodes.map(this.#named),
      outside: view.outside.map((van) => this.#names.of(van)).sort(),
    }
  }

  #dayVan(van: DayVan): DayVan {
    return { ...van, van: this.#names.of(van.van), name: null, plate: null }
  }
}

const KEY = /^masked\/(\d{1,15})$/
const maskedKey = (id: number) => `masked/${id}`

/** The number of an event by its masked key; null for any other text. */
export function eventOfMaskedKey(key: string): number | null {
  const id = KEY.exec(key)?.[1]
  return id === undefined ? null : Number(id)
}
