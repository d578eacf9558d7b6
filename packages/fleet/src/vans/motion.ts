import { moved, type Point } from '../geography/earth.ts'
import { Random } from '../random.ts'
import { type VanPlan, vanPlan } from './depots.ts'
import { pointOfDrive } from './drive.ts'
import { planDay, type Stretch } from './rounds.ts'
import { type Hours, type Shift, shiftAt } from './shifts.ts'

export interface Whereabouts {
  readonly point: Point
  readonly moving: boolean
  /** False below ground and while the phone is switched off: no fix is made. */
  readonly hasFix: boolean
}

const KNOT_MS = 40_000
const SLOW_NOISE_M = 3.2
const QUICK_NOISE_M = 1.1

/** Where a van is at any instant: a function of seed, number and instant alone. Keeps the plan of one day. */
export class Motion {
  readonly plan: VanPlan
  readonly #seed: number
  readonly #hours: Hours
  #shift: Shift | undefined
  #stretches: readonly Stretch[] = []
  #current = 0

  constructor(seed: number, number: number, hours: Hours) {
    this.plan = vanPlan(number)
    this.#seed = seed
    this.#hours = hours
  }

  /** True place, without the receiver's error. */
  at(instantMs: number): Whereabouts {
    const shift = this.#shiftAt(instantMs)
    const stretch = this.#stretchAt(instantMs)
    const phoneOn = shift.phone !== null && instantMs >= shift.phone.fromMs && instantMs < shift.phone.untilMs
    if (stretch.kind === 'driving') {
      return { point: pointOfDrive(stretch.drive, instantMs - stretch.fromMs), moving: true, hasFix: phoneOn }
    }
    return { point: stretch.point, moving: false, hasFix: phoneOn && !stretch.covered }
  }

  /**
   * What the receiver says: a slow drift of a few metres, which makes a parked van wander, and a quick error of about one.
   * The drift is interpolated between independent draws every 40 s, so it needs no memory.
   */
  measured(instantMs: number, point: Point): Point {
    const knot = Math.floor(instantMs / KNOT_MS)
    const share = instantMs / KNOT_MS - knot
    const before = new Random(this.#seed, this.plan.number, knot, 31)
    const after = new Random(this.#seed, this.plan.number, knot + 1, 31)
    const quick = new Random(this.#seed, this.plan.number, instantMs, 32)
    const error = () => SLOW_NOISE_M * (before.normal() * (1 - share) + after.normal() * share) + QUICK_NOISE_M * quick.normal()
    return moved(point, error(), error())
  }

  #shiftAt(instantMs: number): Shift {
    const known = this.#shift
    if (known !== undefined && instantMs >= known.fromMs && instantMs < known.untilMs) return known
    const shift = shiftAt(this.#seed, this.plan, this.#hours, instantMs)
    this.#shift = shift
    this.#stretches = planDay(this.#seed, this.plan, shift)
    this.#current = 0
    return shift
  }

  /** Instants come mostly in order, so the search goes on from where it was. */
  #stretchAt(instantMs: number): Stretch {
    let stretch = this.#stretches[this.#current]!
    if (instantMs < stretch.fromMs) this.#current = 0
    for (stretch = this.#stretches[this.#current]!; instantMs >= stretch.untilMs; stretch = this.#stretches[this.#current]!) {
      this.#current += 1
    }
    return stretch
  }
}
