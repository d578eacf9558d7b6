import { Random } from '../random.ts'
import type { ForcedFault } from './forced.ts'
import { type FaultRates, LASTING_KINDS, type LastingKind } from './kinds.ts'

/** A fault that lasts. */
export interface Episode {
  readonly kind: LastingKind
  readonly fromMs: number
  readonly untilMs: number
  /** Milliseconds by which the clock is ahead; 0 for other kinds. */
  readonly offsetMs: number
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** The van with the wrong clock: behind always, ahead for some minutes of every hour. */
const CLOCK_VAN = 13
const CLOCK_BEHIND_MS = -42_000
const CLOCK_AHEAD_MS = 95_000
const CLOCK_AHEAD_FOR_MS = 6 * MINUTE_MS

/** Length of the slots of time that each hold at most one episode, and how far an episode reaches beyond its slot. */
const SLOTS: Record<Exclude<LastingKind, 'clock'>, { slotMs: number; reachMs: number }> = {
  weak: { slotMs: 2 * MINUTE_MS, reachMs: 5 * MINUTE_MS },
  tunnel: { slotMs: HOUR_MS, reachMs: 8 * MINUTE_MS },
  'dead-phone': { slotMs: HOUR_MS, reachMs: 22 * MINUTE_MS },
  'phone-off': { slotMs: HOUR_MS, reachMs: 3 * HOUR_MS },
}
type SlotKind = keyof typeof SLOTS

/** The most that a rate can be, per van and day: one a slot. */
export function greatestRate(kind: LastingKind): number {
  return kind === 'clock' ? 0 : DAY_MS / SLOTS[kind].slotMs
}

/** The lasting faults of one van, by chance (a function of seed, van and time) and forced. */
export class Episodes {
  readonly #seed: number
  readonly #number: number
  readonly #rates: FaultRates
  readonly #wrongClock: boolean
  readonly #forced: readonly Episode[]
  readonly #slots = new Map<string, Episode | null>()

  constructor(options: { seed: number; number: number; rates: FaultRates; wrongClock: boolean; forced: readonly Episode[] }) {
    this.#seed = options.seed
    this.#number = options.number
    this.#rates = options.rates
    this.#wrongClock = options.wrongClock && options.number === CLOCK_VAN
    this.#forced = options.forced
  }

  /** The episode of a kind that holds the instant; undefined when there is none. */
  at(kind: LastingKind, instantMs: number): Episode | undefined {
    const holds = (episode: Episode | null) => episode !== null && instantMs >= episode.fromMs && instantMs < episode.untilMs
    const forced = this.#forced.find((episode) => episode.kind === kind && holds(episode))
    if (forced !== undefined) return forced
    if (kind === 'clock') return this.#clockAt(instantMs)
    if (this.#rates[kind] === 0) return undefined
    const { slotMs, reachMs } = SLOTS[kind]
    const newest = Math.floor(instantMs / slotMs)
    for (let slot = newest; slot >= Math.floor((instantMs - reachMs) / slotMs); slot -= 1) {
      const episode = this.#inSlot(kind, slot)
      if (episode !== null && holds(episode)) return episode
    }
    return undefined
  }

  /** Episodes that begin in [fromMs, untilMs), except weak coverage, which is everyday. */
  beginningIn(fromMs: number, untilMs: number): Episode[] {
    const found = this.#forced.filter((episode) => episode.fromMs >= fromMs && episode.fromMs < untilMs)
    for (const kind of LASTING_KINDS) {
      if (kind === 'clock' || kind === 'weak' || this.#rates[kind] === 0) continue
      const { slotMs } = SLOTS[kind]
      for (let slot = Math.floor(fromMs / slotMs); slot * slotMs < untilMs; slot += 1) {
        const episode = this.#inSlot(kind, slot)
        if (episode !== null && episode.fromMs >= fromMs && episode.fromMs < untilMs) found.push(episode)
      }
    }
    return found
  }

  #clockAt(instantMs: number): Episode | undefined {
    if (!this.#wrongClock) return undefined
    const hourMs = Math.floor(instantMs / HOUR_MS) * HOUR_MS
    const aheadFromMs = hourMs + 20 * MINUTE_MS
    const ahead = instantMs >= aheadFromMs && instantMs < aheadFromMs + CLOCK_AHEAD_FOR_MS
    const offsetMs = ahead ? CLOCK_AHEAD_MS : CLOCK_BEHIND_MS
    return { kind: 'clock', fromMs: hourMs, untilMs: hourMs + HOUR_MS, offsetMs }
  }

  #inSlot(kind: SlotKind, slot: number): Episode | null {
    const key = `${kind}${slot}`
    const known = this.#slots.get(key)
    if (known !== undefined) return known
    if (this.#slots.size > 256) this.#slots.clear()
    const { slotMs } = SLOTS[kind]
    const random = new Random(this.#seed, this.#number, slot, 41 + LASTING_KINDS.indexOf(kind))
    let episode: Episode | null = null
    if (random.chance((this.#rates[kind] * slotMs) / DAY_MS)) {
      const fromMs = slot * slotMs + random.integer(0, slotMs - 1)
      episode = { kind, fromMs, untilMs: fromMs + durationMs(kind, random), offsetMs: 0 }
    }
    this.#slots.set(key, episode)
    return episode
  }
}

/** How long a fault by chance lasts. Weak coverage is fitted to the lateness of the semantics page: see lateness.test.ts. */
function durationMs(kind: SlotKind, random: Random): number {
  switch (kind) {
    case 'weak':
      return Math.round(random.chance(0.92) ? random.logUniform(4_000, 40_000) : random.logUniform(40_000, 120_000))
    case 'tunnel':
      return random.integer(3 * MINUTE_MS, 8 * MINUTE_MS)
    case 'dead-phone':
      return 22 * MINUTE_MS - 5_000
    case 'phone-off':
      return random.integer(HOUR_MS, 3 * HOUR_MS)
  }
}

/** What is forced on a van, in absolute time. */
export function forcedEpisodes(faults: readonly ForcedFault[], startMs: number): Episode[] {
  return faults.flatMap((fault): Episode[] => {
    const kind = LASTING_KINDS.find((candidate) => candidate === fault.kind)
    if (kind === undefined) return []
    if (kind === 'clock') {
      const fromMs = fault.lastsS === null ? Number.NEGATIVE_INFINITY : startMs + fault.atS * 1000
      const untilMs = fault.lastsS === null ? Number.POSITIVE_INFINITY : fromMs + fault.lastsS * 1000
      return [{ kind, fromMs, untilMs, offsetMs: fault.value * 1000 }]
    }
    const fromMs = startMs + fault.atS * 1000
    return [{ kind, fromMs, untilMs: fromMs + fault.value * 1000, offsetMs: 0 }]
  })
}
