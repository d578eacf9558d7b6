/** A made-up fleet whose place at any time is known, so that a test can have a past without waiting for it. */

export interface Town {
  readonly name: string
  readonly lat: number
  readonly lon: number
}

export interface Place {
  readonly lat: number
  readonly lon: number
  readonly headingDegrees: number | null
  readonly speedMmPerS: number
  readonly stopped: boolean
}

interface Leg {
  readonly fromMs: number
  readonly toMs: number
  readonly from: Town
  readonly to: Town
  readonly bend: number
}

const KM_PER_DEGREE = 111.2

/** mulberry32: the same seed gives the same fleet. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function kilometresBetween(a: { lat: number; lon: number }, b: { lat: number; lon: number }): number {
  return Math.hypot((a.lon - b.lon) * Math.cos((a.lat * Math.PI) / 180), a.lat - b.lat) * KM_PER_DEGREE
}

/** One van's legs from `startMs` on; each a slightly bent drive to a town not far away, then a pause. */
export class SimulatedVan {
  readonly name: string
  readonly #random: () => number
  readonly #towns: readonly Town[]
  readonly #legs: Leg[] = []

  constructor(name: string, seed: number, towns: readonly Town[], startMs: number) {
    this.name = name
    this.#random = randomOf(seed)
    this.#towns = towns
    const home = towns[Math.floor(this.#random() * towns.length)] as Town
    this.#legs.push({ fromMs: startMs, toMs: startMs + this.#random() * 180_000, from: home, to: home, bend: 0 })
  }

  at(timeMs: number): Place {
    while ((this.#legs.at(-1) as Leg).toMs < timeMs) this.#extend()
    const leg = this.#legs.find((one) => timeMs <= one.toMs) as Leg
    if (leg.from === leg.to) return { ...leg.from, headingDegrees: null, speedMmPerS: 0, stopped: true }
    const here = along(leg, timeMs)
    const soon = along(leg, timeMs + 1_000)
    const east = (soon.lon - here.lon) * Math.cos((here.lat * Math.PI) / 180)
    const headingDegrees = ((Math.atan2(east, soon.lat - here.lat) * 180) / Math.PI + 360) % 360
    return { ...here, headingDegrees, speedMmPerS: Math.round(kilometresBetween(here, soon) * 1e6), stopped: false }
  }

  #extend(): void {
    const last = this.#legs.at(-1) as Leg
    const from = last.to
    if (last.from !== last.to && this.#random() < 0.55) {
      const pauseMs = 60_000 + this.#random() * 240_000
      this.#legs.push({ fromMs: last.toMs, toMs: last.toMs + pauseMs, from, to: from, bend: 0 })
      return
    }
    const near = this.#towns.filter((town) => town !== from && kilometresBetween(town, from) < 22)
    const to = (near[Math.floor(this.#random() * near.length)] ?? this.#towns[0]) as Town
    const speedKmPerMs = (11 + this.#random() * 10) / 1e6
    const driveMs = (kilometresBetween(from, to) * 1.12) / speedKmPerMs
    this.#legs.push({ fromMs: last.toMs, toMs: last.toMs + driveMs, from, to, bend: (this.#random() - 0.5) * 0.35 })
  }
}

/** Place on a leg: a quadratic curve whose middle is pushed aside. */
function along(leg: Leg, timeMs: number): { lat: number; lon: number } {
  const part = Math.min(1, Math.max(0, (timeMs - leg.fromMs) / (leg.toMs - leg.fromMs)))
  const aside = leg.bend * 4 * part * (1 - part)
  const lat = leg.from.lat + (leg.to.lat - leg.from.lat) * part + (leg.to.lon - leg.from.lon) * aside * 0.75
  const lon = leg.from.lon + (leg.to.lon - leg.from.lon) * part - (leg.to.lat - leg.from.lat) * aside
  return { lat, lon }
}
