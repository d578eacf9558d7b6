import { readFileSync } from 'node:fs'
import { type Depot, EVERYTHING, type PlatformEvent, type Scope, type Shift } from '@km0/contracts'
import { gridCentre } from '@km0/contracts/grid'
import { decodePacked, encodePacked } from '@km0/contracts/packed-columns'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PanelEvent } from '../panel-events.ts'
import { ACCESS } from '../sign-in/access.ts'
import { checkAccess } from '../sign-in/session.ts'
import { sessionFor } from '../sign-in/sessions.testbench.ts'
import { MaskingState } from './masking-state.ts'
import { Pseudonyms } from './pseudonyms.ts'
import { limitedScopes, type MaskingRules } from './settings.ts'

const VAN = 'furgoneta-7'
const GRID_M = 1_000
/** Monday 2026-09-14, 10:00 in Girona. */
const AT_WORK = Date.UTC(2026, 8, 14, 8)
const AT_NIGHT = Date.UTC(2026, 8, 14, 22)
const RULES: MaskingRules = { masked: ['wall', 'exports:analyst'], gridM: GRID_M, offShiftGridM: 3_000 }
const MASKED: Scope = { ...EVERYTHING, masked: true }
const COARSE: Scope = { ...EVERYTHING, coarseOffShift: true }

const depot: Depot = { id: 'salt', name: 'Salt', lat: 42, lon: 2.8, markets: [], shiftStart: null, shiftEnd: null }
const shifts: Shift[] = [{ depotId: 'salt', day: 'mon', start: '08:00', end: '18:00' }]
const actor = sessionFor('Pau').actor
const NOTE = `parla amb la Rosa de ${VAN}`

function pointAt(eventMs: number, lat = 41.979_412, lon = 2.821_433): PanelEvent {
  return {
    kind: 'point',
    source: { epoch: 1, partition: 0, offset: eventMs },
    value: {
      ...{ repartidor: VAN, lat, lon, data_ms: eventMs, arribada_ms: eventMs, velocitat_mm_s: 5_000, rumb_graus: 91.25 },
      ...{ dubtos: false, estat: 'en-moviment' },
    },
  }
}

let state: MaskingState
beforeEach(() => {
  state = new MaskingState({ clock: 'machine', placeOf: () => 'Sarrià de Ter' }, { rules: RULES, pseudonymKey: 'una clau prou llarga' })
  const registered = { van: VAN, name: 'La Rosa', plate: '1234 ABC', depotId: 'salt', inServiceFromMs: null, inServiceToMs: null }
  state.apply({ kind: 'register', depots: [depot], registered: [registered] })
  const mute = { id: 1, kind: 'van', subject: VAN, untilMs: null, note: NOTE, actor, atMs: 1 } as const
  const episode = { van: VAN, depotId: 'salt', sinceMs: 1, endedMs: 2, latePoints: 0, longestGapMs: 1 }
  const usual = { fromMs: 0, toMs: 1, vans: [{ van: VAN, p99Mm: 1, windows: 1 }] }
  state.apply({ kind: 'dispatch', facts: { markets: [], shifts, mutes: [mute], episodes: [episode as never], usual: usual as never } })
  state.apply(pointAt(AT_WORK))
  state.apply({ kind: 'acknowledgement', view: { van: VAN, sinceMs: 1, note: NOTE, actor, atMs: 1 } })
})

/** Whatever tells whose van it is, or where in its cell it was. */
const TELLS = [VAN, 'Rosa', '1234', '41.9794', '2.8214', '91.25', 'Sarrià']
const told = (value: unknown) => TELLS.filter((text) => JSON.stringify(value).includes(text))

describe('pseudonyms', () => {
  it('are the same for the same van and key, others for another van or key, and tell nothing of it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), fc.string(), (one, other, key) => {
        const [names, again] = [new Pseudonyms(key), new Pseudonyms(key)]
        expect(again.of(one)).toBe(names.of(one))
        expect(names.of(one) === names.of(other)).toBe(one === other)
        expect(new Pseudonyms(`${key}.`).of(one)).not.toBe(names.of(one))
        expect(names.of(one)).toMatch(/^v-[\w-]{12}$/)
        expect(names.vanOf(names.of(one))).toBe(one)
      }),
    )
  })

  it('nobody finds a van by trying its name', () => {
    expect(state.vanNamed(MASKED, VAN)).toBeNull()
    expect(state.vanNamed(MASKED, state.nameFor(MASKED, VAN))).toBe(VAN)
    expect(state.vanNamed(EVERYTHING, VAN)).toBe(VAN)
  })
})

describe('whoever sees pseudonyms', () => {
  const event: PlatformEvent = {
    ...({ id: 12, key: `no-signal/${VAN}/1`, kind: 'no-signal', atMs: 1, van: VAN, sinceMs: AT_WORK, stepMs: 1 } as PlatformEvent & {
      kind: 'no-signal'
    }),
    ...{ lat: 41.979_412, lon: 2.821_433 },
  }

  it('gets no name and no place within the cell by any way out', () => {
    const changes = state.takeChanges(AT_WORK)
    const all = (scope: Scope) => ({
      snapshot: state.snapshot(scope, AT_WORK),
      delta: state.deltaFor(scope, changes),
      batch: state.batchFor(scope, [VAN]),
      trail: state.trail(scope, VAN),
      trails: state.trails(scope),
      stored: state.pointsFor(scope, VAN, [[2.821_433, 41.979_412, AT_WORK]]),
      event: state.eventFor(scope, event),
    })
    const [open, masked] = [all(EVERYTHING), all(MASKED)]
    for (const [name, value] of Object.entries(open)) expect(told(value), name).not.toEqual([])
    for (const [name, value] of Object.entries(masked)) expect(told(value), name).toEqual([])
    const [lat, lon] = gridCentre(41.979_412, 2.821_433, GRID_M)
    expect(masked.snapshot.points).toMatchObject([{ van: state.nameFor(MASKED, VAN), lat, lon, depotId: 'salt' }])
    expect(masked.batch).toMatchObject([{ lat, lon }])
    expect(masked.trail?.points).toEqual([[lon, lat, AT_WORK]])
    expect(masked.snapshot.registered).toMatchObject([{ van: state.nameFor(MASKED, VAN), plate: null }])
  })

  it('cannot tell from the places that it gets where in the cell a van moved', () => {
    const [lat, lon] = gridCentre(41.979_412, 2.821_433, GRID_M)
    const share = fc.double({ min: -0.004, max: 0.004, noNaN: true })
    fc.assert(
      fc.property(share, share, (up, aside) => {
        const [one] = state.pointsFor(MASKED, VAN, [[lon + aside, lat + up, 1]])
        expect(one).toEqual([lon, lat, 1])
      }),
    )
  })

  it('is refused wherever an answer would name vans: the table of routes says where it does not', () => {
    const bare: string[] = []
    for (const [route, access] of Object.entries(ACCESS)) {
      const passes = (scope: Scope) => {
        try {
          checkAccess(access, sessionFor('x', 'administrator', scope))
          return true
        } catch {
          return false
        }
      }
      expect(passes(EVERYTHING), route).toBe(true)
      if (!passes(MASKED)) bare.push(route)
      expect(passes(MASKED), route).toBe(access.needs === 'open' || access.vans === 'none' || access.masks === true)
      expect(passes(COARSE), route).toBe(true)
    }
    expect(bare).toEqual(expect.arrayContaining(['GET /api/register', 'GET /api/points', 'GET /api/van-day', 'GET /api/replay/hour']))
  })
})

it('docs/personal-data.md says of each route how it shows vans', () => {
  const text = readFileSync('docs/personal-data.md', 'utf8')
  const told = Object.fromEntries([...text.matchAll(/^\| `(\w+ \/\S+)` \| (.+) \| (.+) \|$/gm)].map(([, route, ...how]) => [route, how]))
  // Those that show places; of the masked ones all may.
  const places = ['GET /api/points', 'GET /api/van-day', 'GET /api/van-day/track', 'GET /api/replay/hour']
  const is = Object.entries(ACCESS).flatMap(([route, { vans, masks }]) =>
    vans === 'none' ? [] : [[route, [masks ? 'yes' : 'refused', masks || places.includes(route) ? 'on the grid' : '–']]],
  )
  expect(told).toEqual(Object.fromEntries(is))
})

describe('vans off shift', () => {
  it('lie on a grid from the end of a shift to the next one, for those for whom it is set', () => {
    const exact = [2.821_433, 41.979_412] as const
    const at = (scope: Scope, ms: number) => state.pointsFor(scope, VAN, [[...exact, ms]])[0]
    expect(at(COARSE, AT_WORK)).toEqual([...exact, AT_WORK])
    expect(at(COARSE, Date.UTC(2026, 8, 14, 15, 59, 59))).toEqual([...exact, Date.UTC(2026, 8, 14, 15, 59, 59)])
    const [lat, lon] = gridCentre(exact[1], exact[0], 3_000)
    expect(at(COARSE, Date.UTC(2026, 8, 14, 16))).toEqual([lon, lat, Date.UTC(2026, 8, 14, 16)])
    expect(at(COARSE, AT_NIGHT)).toEqual([lon, lat, AT_NIGHT])
    expect(at(EVERYTHING, AT_NIGHT)).toEqual([...exact, AT_NIGHT])
    state.apply(pointAt(AT_NIGHT))
    expect(told(state.snapshot(COARSE, AT_NIGHT).points)).toEqual([VAN])
    expect(told(state.batchFor(COARSE, [VAN]))).toEqual([])
    expect(told(state.deltaFor(COARSE, state.takeChanges(AT_NIGHT)).points)).toEqual([VAN])
    expect(told(state.trail(COARSE, VAN)?.points.at(-1))).toEqual([])
  })

  it('lie on it in the tracks of the lake, in the replay, and among late and refused points', () => {
    const [fromMs, off] = [AT_WORK, AT_NIGHT - AT_WORK]
    const [lat, lon] = gridCentre(41.979_412, 2.821_433, 3_000).map((degrees) => Math.round(degrees * 1e6))
    const point = { arrivalMs: AT_NIGHT, eventMs: null, lat: 41.979_412, lon: 2.821_433 }
    const columns = [Int32Array.of(0, off), Int32Array.of(41_979_412, 41_979_412), Int32Array.of(2_821_433, 2_821_433), Int32Array.of(0, 0)]
    const packed = encodePacked(
      { fromMs, late: [point], refused: [{ ...point, arrivalMs: AT_WORK }], vans: [{ van: VAN, rows: 2 }] },
      columns,
    )
    expect(state.trackFor(EVERYTHING, VAN, packed)).toBe(packed)
    const track = decodePacked<{ late: object[]; refused: object[] }>(state.trackFor(COARSE, VAN, packed).buffer)
    expect(track.columns.slice(0, 3).map((column) => [...column])).toEqual([
      [0, off],
      [41_979_412, lat],
      [2_821_433, lon],
    ])
    expect([told(track.header.late), told(track.header.refused)]).toEqual([[], ['41.9794', '2.8214']])
    const replay = decodePacked(state.replayFor(COARSE, packed).buffer)
    expect(replay.columns.map((column) => [...column])).toEqual([
      [0, off],
      [41_979_412, lat],
      [2_821_433, lon],
      [0, -1],
    ])
    const recent = {
      van: VAN,
      nowMs: AT_NIGHT,
      fromMs,
      truncated: false,
      points: [{ ...point, verdict: 'accepted', reason: null }],
    } as never
    expect(told(state.recentFor(COARSE, recent))).toEqual([VAN])
    expect(told(state.recentFor(EVERYTHING, recent))).toEqual([VAN, '41.9794', '2.8214'])
  })

  it('a van without a depot, or a depot without shifts, is not off shift', () => {
    state.apply({ kind: 'register', depots: [depot], registered: [] })
    expect(state.pointsFor(COARSE, VAN, [[2.5, 41.5, AT_NIGHT]])).toEqual([[2.5, 41.5, AT_NIGHT]])
  })
})

it('who sees how: by role, by the key, and in files', () => {
  const of = (role: string, isMasked = false) => limitedScopes(RULES, { kind: 'person', roles: [role], scope: EVERYTHING, isMasked })
  expect(of('administrator')).toEqual({ scope: EVERYTHING, exportScope: EVERYTHING })
  expect(of('dispatcher')).toEqual({ scope: COARSE, exportScope: COARSE })
  expect(of('analyst')).toEqual({ scope: COARSE, exportScope: { ...COARSE, masked: true } })
  expect(of('wall').scope.masked).toBe(true)
  expect(of('reader').scope.masked).toBeUndefined()
  expect(of('reader', true)).toEqual({ scope: { ...COARSE, masked: true }, exportScope: { ...COARSE, masked: true } })
})
