import { calendarsOf, type Depot, type MuteView } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { isQuiet, type Quiet } from './quiet.ts'

const NOON = Date.parse('2026-11-30T12:00+01:00')
const depot = (id: string, shiftStart: string | null, shiftEnd: string | null): Depot => ({
  ...{ id, name: id, lat: 42, lon: 2.8, markets: [], shiftStart, shiftEnd },
})
const depots = [depot('girona', '06:00', '14:00'), depot('vic', null, null)]
const van = (name: string, depotId: string | null, inServiceToMs: number | null = null) => ({
  ...{ van: name, name, plate: null, depotId, inServiceFromMs: null, inServiceToMs },
})
const registered = [van('a', 'girona'), van('b', 'vic'), van('old', 'vic', NOON)]
const quiet = (mutes: Partial<MuteView>[] = []): Quiet => ({
  registered: new Map(registered.map((one) => [one.van, one])),
  depots: new Map(depots.map((one) => [one.id, one])),
  calendars: calendarsOf(depots, []),
  mutes: mutes as MuteView[],
  depotDistanceM: 150,
})
const event = (name: string, atMs = NOON, lat: number | null = 41) => ({ van: name, atMs, lat, lon: lat === null ? null : 2.8 })

describe('whose silence nobody is told of', () => {
  it.each([
    ['a van at work', event('a'), false],
    ['off shift', event('a', NOON + 3 * 3_600_000), true],
    ['at its depot, without calendar', event('b', NOON, 42.001), true],
    ['elsewhere, without calendar', event('b', NOON, 42.01), false],
    ['at no known place', event('b', NOON, null), false],
    ['out of service', event('old'), true],
    ['not registered', event('nobody'), false],
  ])('%s', (_what, given, expected) => {
    expect(isQuiet(given, quiet())).toBe(expected)
  })

  it.each([
    ['the van', { kind: 'van' as const, subject: 'a', untilMs: null }, true],
    ['its depot', { kind: 'depot' as const, subject: 'girona', untilMs: NOON + 1 }, true],
    ['until before it', { kind: 'van' as const, subject: 'a', untilMs: NOON }, false],
    ['another one', { kind: 'van' as const, subject: 'girona', untilMs: null }, false],
  ])('muted: %s', (_what, mute, expected) => {
    expect(isQuiet(event('a'), quiet([mute]))).toBe(expected)
  })
})
