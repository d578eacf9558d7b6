// What happens when: a pure function of the seed and of the length of the run.
import { Random, seedOf } from '@km0/fleet/random'

/** Programs and services that are killed, by the name that the launcher gives them. */
export const VICTIMS = [
  'bridge',
  'stream-positions',
  'stream-serving',
  'stream-lake',
  'stream-stock-shuffle',
  'stream-stock-windows',
  'dashboard',
  'mqtt',
  'kafka',
  'postgres',
] as const
export type Victim = (typeof VICTIMS)[number]

/** Connections that a proxy of ours carries. */
export const WIRES = ['fleet-mqtt', 'bridge-mqtt', 'bridge-kafka'] as const
export type WireName = (typeof WIRES)[number]

export type Fault =
  | { readonly kind: 'kill' | 'stop' | 'pause'; readonly victim: Victim }
  | { readonly kind: 'refuse' | 'silence'; readonly wire: WireName }
  | { readonly kind: 'full-disk' | 'redelivery' }

/** One fault of a run. */
export interface Card {
  readonly fault: Fault
  /** Seconds after the beginning, at the earliest: it waits until results flow again after the ones before. */
  readonly atS: number
  /** Seconds that it lasts; 0 for one that is over at once. */
  readonly lastsS: number
  /** Comes while the one before may still be felt. */
  readonly together: boolean
}

/** A fault of the fleet's own. */
export interface VanFault {
  readonly van: number
  readonly atS: number
  readonly lastsS: number
}

export interface Schedule {
  readonly cards: readonly Card[]
  /** A clock that is a day ahead for a while. */
  readonly wrongClock: VanFault
  /** Dead zones, so that sessions end and begin. */
  readonly tunnels: readonly VanFault[]
}

/** Longer than the time-outs of whoever waits for it: group session 6 s, broker session 4 s, requests 15 s, keepalive 1.5 · 20 s, silent input 30 s. */
const PAUSES_S: Readonly<Record<Victim, number>> = {
  bridge: 36,
  'stream-positions': 10,
  'stream-serving': 10,
  'stream-lake': 10,
  'stream-stock-shuffle': 18,
  'stream-stock-windows': 10,
  dashboard: 12,
  mqtt: 36,
  kafka: 20,
  postgres: 16,
}
/** Longer than the keepalive or the request's time-out of that connection. */
const SILENCES_S: Readonly<Record<WireName, number>> = { 'fleet-mqtt': 50, 'bridge-mqtt': 36, 'bridge-kafka': 20 }
const FULL_DISK_S = { least: 6, most: 15 }
const REFUSED_S = { least: 2, most: 12 }
const GAP_S = { least: 4, most: 10 }
/** Between two that come together. */
const TOGETHER_S = 2
const TOGETHER_CHANCE = 0.15
/** A fault that takes a larger share of a run leaves no room for others. */
const GREATEST_SHARE = 0.2
const FIRST_S = 2

/** Every kind of fault once. */
function deck(random: Random): Omit<Card, 'atS' | 'together'>[] {
  return [
    ...VICTIMS.map((victim) => ({ fault: { kind: 'kill' as const, victim }, lastsS: 0 })),
    ...VICTIMS.map((victim) => ({ fault: { kind: 'pause' as const, victim }, lastsS: PAUSES_S[victim] })),
    { fault: { kind: 'stop', victim: 'mqtt' }, lastsS: 0 },
    ...WIRES.map((wire) => ({ fault: { kind: 'refuse' as const, wire }, lastsS: random.integer(REFUSED_S.least, REFUSED_S.most) })),
    ...WIRES.map((wire) => ({ fault: { kind: 'silence' as const, wire }, lastsS: SILENCES_S[wire] })),
    { fault: { kind: 'full-disk' }, lastsS: random.integer(FULL_DISK_S.least, FULL_DISK_S.most) },
    { fault: { kind: 'redelivery' }, lastsS: 0 },
  ]
}

/** The faults of a run of so many seconds with vans 1 to `vans`. Equal arguments give the equal schedule. */
export function scheduleOf(seed: number, seconds: number, vans: number): Schedule {
  const random = new Random(seed, seedOf('chaos'))
  const cards: Card[] = []
  let atS = FIRST_S
  for (let left = shuffled(deck(random), random); atS < seconds; ) {
    const index = left.findIndex(({ lastsS }) => lastsS <= seconds * GREATEST_SHARE)
    const [card] = index < 0 ? [] : left.splice(index, 1)
    if (card === undefined) {
      left = shuffled(deck(random), random)
      continue
    }
    const together = cards.length > 0 && random.chance(TOGETHER_CHANCE)
    const before = cards.at(-1)
    if (together && before !== undefined) atS = before.atS + TOGETHER_S
    if (atS + card.lastsS > seconds) break
    cards.push({ ...card, atS, together })
    atS = Math.max(atS + card.lastsS, before === undefined ? 0 : before.atS + before.lastsS) + random.integer(GAP_S.least, GAP_S.most)
  }
  const van = () => random.integer(1, vans)
  return {
    cards,
    wrongClock: { van: van(), atS: random.integer(0, Math.floor(seconds / 2)), lastsS: random.integer(10, 60) },
    tunnels: Array.from({ length: Math.ceil(vans / 20) }, () => ({
      van: van(),
      atS: random.integer(0, 300),
      lastsS: random.integer(200, 420),
    })),
  }
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const list = [...items]
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = random.integer(0, index)
    const item = list[index] as Item
    list[index] = list[other] as Item
    list[other] = item
  }
  return list
}

/** In words, for people and for the table of recoveries. */
export function nameOf(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
      return `kill -9 of ${fault.victim}`
    case 'stop':
      return `SIGTERM of ${fault.victim}`
    case 'pause':
      return `SIGSTOP of ${fault.victim}`
    case 'refuse':
      return `${fault.wire} cut`
    case 'silence':
      return `${fault.wire} silent`
    case 'full-disk':
      return 'full disk under the checkpoints'
    case 'redelivery':
      return 'old messages again, twice and shuffled'
  }
}
