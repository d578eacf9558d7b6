import { describe, expect, it } from 'vitest'
import { parseForcedFault } from '../faults/forced.ts'
import { DEFAULT_RATES, NO_FAULTS } from '../faults/kinds.ts'
import { distanceM } from '../geography/earth.ts'
import { fleetStream } from './fleet-stream.ts'
import type { Outgoing } from './outgoing.ts'
import type { FleetSettings } from './van-messages.ts'

const START_MS = 1_789_380_000_000
const MINUTE_MS = 60_000

const fleet = (changes: Partial<FleetSettings> = {}): FleetSettings => ({
  seed: 1,
  vans: 20,
  intervalMs: 5_000,
  hours: 'always',
  rates: DEFAULT_RATES,
  wrongClock: true,
  forced: [],
  startMs: START_MS,
  ...changes,
})
const calm = (changes: Partial<FleetSettings> = {}) => fleet({ rates: NO_FAULTS, wrongClock: false, ...changes })

function take(settings: FleetSettings, fromMs: number, minutes: number): Outgoing[] {
  const messages: Outgoing[] = []
  for (const message of fleetStream(settings, fromMs)) {
    if (message.arrivalMs >= fromMs + minutes * MINUTE_MS) break
    messages.push(message)
  }
  return messages
}

const pointOf = (message: Outgoing) => JSON.parse(String(message.payload)) as { lat: number; lon: number; data_ms: number }
const ofVan = (messages: Outgoing[], number: number) => messages.filter((message) => message.van === `furgoneta-${number}`)

describe('the fleet', () => {
  it('says the same for the same seed and start, and something else for another seed', () => {
    expect(take(fleet(), START_MS, 10)).toEqual(take(fleet(), START_MS, 10))
    expect(take(fleet({ seed: 2 }), START_MS, 10)).not.toEqual(take(fleet(), START_MS, 10))
  })

  it.each([1, 2, 3])('goes on after a restart as if there had been none (seed %i)', (seed) => {
    const whole = take(fleet({ seed }), START_MS, 20)
    const laterMs = START_MS + 13 * MINUTE_MS + 1234
    const rest = take(fleet({ seed }), laterMs, 7 - 1234 / MINUTE_MS)
    expect(rest).toEqual(whole.filter((message) => message.arrivalMs >= laterMs))
  })

  it('sends in order of arrival, and never before the event of a right clock', () => {
    const messages = take(fleet({ wrongClock: false, seed: 5 }), START_MS, 30)
    for (const [index, message] of messages.entries()) {
      expect(message.arrivalMs).toBeGreaterThanOrEqual(messages[index - 1]?.arrivalMs ?? START_MS)
      expect(message.arrivalMs).toBeGreaterThan(message.eventMs!)
    }
  })

  it('makes a fix of each van every five seconds', () => {
    const messages = take(calm({ seed: 4 }), START_MS, 30)
    for (let number = 1; number <= 20; number += 1) {
      const events = ofVan(messages, number).map((message) => message.eventMs!)
      // A van is below ground now and then; the others send 360 in half an hour.
      expect(new Set(events.map((eventMs) => Math.floor(eventMs / 5_000))).size).toBe(events.length)
      expect(events.length).toBeLessThanOrEqual(362)
    }
    expect(messages.length).toBeGreaterThan(20 * 360 * 0.9)
  })

  it.each(['always', 'madrid'] as const)('never drives faster than 130 km/h (%s)', (hours) => {
    const messages = take(calm({ hours, vans: 40 }), START_MS, 60)
    let fastest = 0
    let metres = 0
    for (let number = 1; number <= 40; number += 1) {
      const points = ofVan(messages, number)
        .map(pointOf)
        .sort((a, b) => a.data_ms - b.data_ms)
      for (let at = 1; at < points.length; at += 1) {
        const seconds = (points[at]!.data_ms - points[at - 1]!.data_ms) / 1000
        const stepM = distanceM(points[at - 1]!, points[at]!)
        metres += stepM
        if (seconds >= 2) fastest = Math.max(fastest, stepM / seconds)
      }
    }
    expect(fastest * 3.6).toBeLessThan(130)
    // 40 vans in an hour: some drive, and none flies.
    expect(metres / 1000).toBeGreaterThan(40 * 5)
    expect(metres / 1000).toBeLessThan(40 * 70)
  })
})

describe('lateness', () => {
  it('is that of the semantics page: p50 1.2 s, p95 8 s, p99 45 s, p99.9 4 min, at most 22 min', () => {
    const settings = fleet({ vans: 140, intervalMs: 30_000, wrongClock: false, seed: 11 })
    const seconds: number[] = []
    for (const message of fleetStream(settings, START_MS)) {
      if (message.arrivalMs >= START_MS + 24 * 60 * MINUTE_MS) break
      if (message.fault !== 'duplicate') seconds.push((message.arrivalMs - message.eventMs!) / 1000)
    }
    seconds.sort((a, b) => a - b)
    const quantile = (share: number) => seconds[Math.floor(share * seconds.length)]!
    console.log(`lateness p50 ${quantile(0.5)} p95 ${quantile(0.95)} p99 ${quantile(0.99)} p99.9 ${quantile(0.999)} max ${seconds.at(-1)}`)
    expect(Math.abs(quantile(0.5) - 1.2)).toBeLessThan(0.1)
    expect(Math.abs(quantile(0.95) - 8)).toBeLessThan(1)
    expect(Math.abs(quantile(0.99) - 45)).toBeLessThan(7)
    expect(Math.abs(quantile(0.999) - 240)).toBeLessThan(60)
    expect(seconds.at(-1)).toBeLessThanOrEqual(22 * 60)
  })
})

describe('forced faults', () => {
  const forced = (...texts: string[]) => calm({ forced: texts.map(parseForcedFault) })
  const faultsIn = (messages: Outgoing[]) => messages.flatMap((message) => (message.fault === null ? [] : [[message.van, message.fault]]))

  it('a tunnel of 240 s: nothing arrives in it, every point of it arrives after it, in order', () => {
    const messages = take(forced('tunnel:furgoneta-7:240@60'), START_MS, 10)
    const fromMs = START_MS + 60_000
    const untilMs = fromMs + 240_000
    const van = ofVan(messages, 7)
    const inside = van.filter((message) => message.eventMs! >= fromMs && message.eventMs! < untilMs)
    expect(inside.length).toBe(48)
    expect(inside.every((message) => message.arrivalMs > untilMs && message.arrivalMs < untilMs + 5_000)).toBe(true)
    expect(inside.map((message) => message.eventMs)).toEqual(inside.map((message) => message.eventMs).sort((a, b) => a! - b!))
    // What was sent just before may still be on its way for a second or two.
    expect(van.some((message) => message.arrivalMs > fromMs + 10_000 && message.arrivalMs < untilMs)).toBe(false)
    expect(faultsIn(messages)).toEqual([])
    expect(ofVan(messages, 8)).toEqual(ofVan(take(calm(), START_MS, 10), 8))
  })

  it('a phone that is off brings nothing back', () => {
    const van = ofVan(take(forced('phone-off:furgoneta-3:120@60'), START_MS, 10), 3)
    const silent = (ms: number) => ms >= START_MS + 60_000 && ms < START_MS + 180_000
    expect(van.filter((message) => silent(message.eventMs!))).toEqual([])
    expect(van.length).toBe(120 - 24)
  })

  it('a clock 90 s ahead, for the whole run or for a while', () => {
    const right = ofVan(take(calm(), START_MS, 5), 9)
    const ahead = ofVan(take(forced('clock:furgoneta-9:+90'), START_MS, 5), 9)
    expect(ahead.map((message) => message.eventMs! - 90_000)).toEqual(right.map((message) => message.eventMs))
    const while60 = ofVan(take(forced('clock:furgoneta-9:-30/60@60'), START_MS, 5), 9)
    expect(while60.filter((message, index) => message.eventMs !== right[index]!.eventMs).length).toBe(12)
  })

  it.each([
    ['null-island:furgoneta-2:3', 3],
    ['jump:furgoneta-2:55', 1],
    ['duplicate:furgoneta-2:4', 4],
    ['broken:furgoneta-2:json', 1],
  ])('%s comes exactly %i times', (text, count) => {
    const messages = take(forced(text), START_MS, 5)
    const kind = text.split(':')[0]
    expect(faultsIn(messages)).toEqual(Array.from({ length: count }, () => ['furgoneta-2', kind]))
    const others = take(calm(), START_MS, 5)
    expect(messages.length).toBe(others.length + (kind === 'duplicate' ? count : 0))
  })

  it('a jump of 55 km is one', () => {
    const [jump] = take(forced('jump:furgoneta-2:55'), START_MS, 5).filter((message) => message.fault === 'jump')
    const right = take(calm(), START_MS, 5).find((message) => message.van === 'furgoneta-2' && message.eventMs === jump!.eventMs)!
    expect(Math.abs(distanceM(pointOf(jump!), pointOf(right)) - 55_000)).toBeLessThan(500)
  })

  it.each(['json', 'types', 'seconds', 'empty', 'utf8', 'range', 'missing', 'ancient', 'future', 'identity', 'big'])(
    'a payload broken by %s is not a good one',
    (variant) => {
      const [broken] = take(forced(`broken:furgoneta-2:${variant}`), START_MS, 2).filter((message) => message.fault === 'broken')
      const text = String(broken!.payload)
      let good: unknown
      try {
        good = JSON.parse(text)
      } catch {
        good = null
      }
      const fix = good as { repartidor: string; lat: unknown; lon: unknown; data_ms: number } | null
      const accepted =
        fix !== null &&
        text.length < 65_536 &&
        !text.includes('\ufffd') &&
        fix.repartidor === broken!.van &&
        typeof fix.lat === 'number' &&
        typeof fix.lon === 'number' &&
        Math.abs(fix.lat) <= 90 &&
        Math.abs(fix.data_ms - START_MS) < 3_600_000
      expect(accepted).toBe(false)
    },
  )

  it.each(['tunel:furgoneta-1', 'tunnel', 'tunnel:', 'tunnel:a:b', 'clock:a:+x', 'tunnel:a:1/2', 'broken:a:nicely', 'jump:a:1:2'])(
    '%s is refused with a reason',
    (text) => {
      expect(() => parseForcedFault(text)).toThrow(/--fault/)
    },
  )
})
