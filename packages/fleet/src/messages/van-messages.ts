import { encodePosition, type PositionFix, positionTopic } from '@km0/contracts'
import { breakPayload, CHANCE_VARIANTS } from '../faults/broken.ts'
import { type Episode, Episodes, forcedEpisodes } from '../faults/episodes.ts'
import type { ForcedFault } from '../faults/forced.ts'
import type { FaultKind, FaultRates } from '../faults/kinds.ts'
import { moved } from '../geography/earth.ts'
import { Random } from '../random.ts'
import { Motion } from '../vans/motion.ts'
import type { Hours } from '../vans/shifts.ts'
import type { Outgoing } from './outgoing.ts'

export interface FleetSettings {
  readonly seed: number
  readonly vans: number
  readonly intervalMs: number
  readonly hours: Hours
  readonly rates: FaultRates
  /** Whether van 13 has its wrong clock. */
  readonly wrongClock: boolean
  readonly forced: readonly ForcedFault[]
  /** From when the seconds of forced faults count. */
  readonly startMs: number
}

const DAY_MS = 86_400_000
/** Between the messages of a queue that empties. */
const QUEUE_STEP_MS = 25
/** Points that waited, in the order in which the phone gives up waiting. */
const WAITING_KINDS = ['tunnel', 'dead-phone', 'weak'] as const

/**
 * The messages of one van. Each is a function of the settings and of the number of the fix: fix k is made in
 * [k · interval, (k + 1) · interval), so a run that begins later gives the same messages from there on.
 */
export class VanMessages {
  readonly number: number
  readonly van: string
  readonly episodes: Episodes
  readonly #settings: FleetSettings
  readonly #motion: Motion
  readonly #phaseMs: number
  readonly #forced: readonly ForcedFault[]

  constructor(settings: FleetSettings, number: number) {
    this.#settings = settings
    this.number = number
    this.#motion = new Motion(settings.seed, number, settings.hours)
    this.van = this.#motion.plan.van
    this.#forced = settings.forced.filter((fault) => fault.van === this.van)
    this.episodes = new Episodes({
      seed: settings.seed,
      number,
      rates: settings.rates,
      wrongClock: settings.wrongClock,
      forced: forcedEpisodes(this.#forced, settings.startMs),
    })
    this.#phaseMs = new Random(settings.seed, number, 51).integer(0, Math.floor(settings.intervalMs * 0.9) - 1)
  }

  /** What fix k brings: nothing, one message, or one and its copy. Arrivals are not before the instant of the fix. */
  ofFix(index: number): Outgoing[] {
    const { seed, intervalMs } = this.#settings
    const random = new Random(seed, this.number, index, 52)
    const instantMs = index * intervalMs + this.#phaseMs + random.integer(0, Math.floor(intervalMs * 0.1) - 1)
    const forced = this.#forcedAt(index)
    const whereabouts = this.#motion.at(instantMs)
    if (forced === undefined && (!whereabouts.hasFix || this.episodes.at('phone-off', instantMs) !== undefined)) return []
    const measured = this.#motion.measured(instantMs, whereabouts.point)
    const eventMs = instantMs + (this.episodes.at('clock', instantMs)?.offsetMs ?? 0)
    const fix = { van: this.van, lat: sixDecimals(measured.lat), lon: sixDecimals(measured.lon), eventMs }
    const fault = forced?.kind ?? this.#faultByChance(random)
    const message: Outgoing = {
      topic: positionTopic(this.van),
      payload: this.#payload(fix, fault, forced, random),
      arrivalMs: this.#arrivalMs(instantMs, random),
      van: this.van,
      eventMs,
      fault,
    }
    return fault === 'duplicate' ? [{ ...message, fault: null }, this.#copy(message, fix, random)] : [message]
  }

  #forcedAt(index: number): ForcedFault | undefined {
    return this.#forced.find((fault) => {
      if (fault.kind !== 'null-island' && fault.kind !== 'jump' && fault.kind !== 'duplicate' && fault.kind !== 'broken') return false
      const first = Math.ceil((this.#settings.startMs + fault.atS * 1000) / this.#settings.intervalMs)
      const count = fault.kind === 'null-island' || fault.kind === 'duplicate' ? fault.value : 1
      return index >= first && index < first + count
    })
  }

  #faultByChance(random: Random): FaultKind | null {
    const { rates, intervalMs } = this.#settings
    let left = random.unit() * (DAY_MS / intervalMs)
    for (const kind of ['duplicate', 'null-island', 'jump', 'broken'] as const) {
      left -= rates[kind]
      if (left < 0) return kind
    }
    return null
  }

  #payload(fix: PositionFix, fault: FaultKind | null, forced: ForcedFault | undefined, random: Random): string | Buffer {
    if (fault === 'null-island') return encodePosition({ ...fix, lat: 0, lon: 0 })
    if (fault === 'broken') return breakPayload(fix, forced?.variant ?? random.pick(CHANCE_VARIANTS))
    if (fault !== 'jump') return encodePosition(fix)
    const distanceM = forced === undefined ? random.logUniform(3_000, 80_000) : forced.value * 1000
    const angle = random.between(0, 2 * Math.PI)
    const away = moved(fix, distanceM * Math.cos(angle), distanceM * Math.sin(angle))
    return encodePosition({ ...fix, lat: sixDecimals(away.lat), lon: sixDecimals(away.lon) })
  }

  /** Good coverage takes about a second; what waits in a dead zone leaves at its end, oldest first. */
  #arrivalMs(instantMs: number, random: Random): number {
    const travelMs = Math.round(120 + 1_010 * Math.exp(0.55 * random.normal()))
    let leavesMs = instantMs
    let queued = 0
    for (let episode = this.#waitsAt(leavesMs); episode !== undefined; episode = this.#waitsAt(leavesMs)) {
      queued += Math.floor((leavesMs - episode.fromMs) / this.#settings.intervalMs)
      leavesMs = episode.untilMs
    }
    if (leavesMs === instantMs) return instantMs + travelMs
    return leavesMs + 400 + queued * QUEUE_STEP_MS
  }

  #waitsAt(instantMs: number): Episode | undefined {
    for (const kind of WAITING_KINDS) {
      const episode = this.episodes.at(kind, instantMs)
      if (episode !== undefined) return episode
    }
    return undefined
  }

  /** The same fix again: the first acknowledgement was lost, or another app of the phone sends it too, with fewer decimals. */
  #copy(message: Outgoing, fix: PositionFix, random: Random): Outgoing {
    const rounded = { ...fix, lat: Math.round(fix.lat * 1e4) / 1e4, lon: Math.round(fix.lon * 1e4) / 1e4 }
    const payload = random.chance(0.5) ? message.payload : encodePosition(rounded)
    return { ...message, payload, arrivalMs: message.arrivalMs + random.integer(50, 20_000), fault: 'duplicate' }
  }
}

function sixDecimals(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}
