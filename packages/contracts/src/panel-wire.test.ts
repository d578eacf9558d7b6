import { describe, expect, test } from 'vitest'
import { DEFAULT_PANEL_LIMITS, type DistanceView, type PanelDelta, type PanelPoint, type PanelSnapshot } from './panel.ts'
import { decodeDelta, decodeSnapshot, encodeDelta, encodeSnapshot } from './panel-wire.ts'

const distance = (van: string, windowEndMs: number, revision = 0): DistanceView => ({
  van,
  depotId: van === 'b' ? null : 'girona',
  windowStartMs: windowEndMs - 300_000,
  windowEndMs,
  distanceMm: 1_234_567,
  positions: 60,
  jumps: 1,
  displacementMm: 900_000,
  revision,
})

const snapshot: PanelSnapshot = {
  sequence: 7,
  clock: 'machine',
  nowMs: 1_789_380_000_000,
  limits: DEFAULT_PANEL_LIMITS,
  feed: { state: 'live', noDataSinceMs: null, trouble: null, partitions: [] },
  outages: [],
  depots: [],
  registered: [],
  points: [],
  signals: [],
  distances: [distance('a', 600_000), distance('a', 660_000, 2), distance('b', 600_000)],
  acknowledgements: [],
}

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('panel wire', () => {
  test('a snapshot comes back as it was', () => {
    expect(decodeSnapshot(throughJson(encodeSnapshot(snapshot)))).toEqual(snapshot)
  })

  test('a delta comes back as it was, with and without distances', () => {
    const empty: PanelDelta = { sequence: 8, nowMs: 1 }
    expect(decodeDelta(throughJson(encodeDelta(empty)))).toEqual(empty)
    expect('distances' in encodeDelta(empty)).toBe(false)
    const full: PanelDelta = { sequence: 9, nowMs: 2, distances: [distance('b', 660_000)] }
    expect(decodeDelta(throughJson(encodeDelta(full)))).toEqual(full)
  })

  test('35 windows of a van take less than a third of their size as objects', () => {
    const many = { ...snapshot, distances: Array.from({ length: 35 }, (_, n) => distance('furgoneta-3', 1_789_380_000_000 + n * 60_000)) }
    expect(JSON.stringify(encodeSnapshot(many)).length).toBeLessThan(JSON.stringify(many).length * 0.45)
  })

  test('windows cut short are an error, not rows of undefined', () => {
    expect(() => decodeSnapshot({ ...snapshot, distances: [['a', null, [1, 2, 3]]] })).toThrow(/multiple of 7/)
  })

  test('many points travel as columns, and come back as they were', () => {
    const points = Array.from({ length: 1_000 }, (_, n): PanelPoint => {
      const eventMs = 1_789_380_000_000 + n * 13
      const known = n % 3 !== 0
      return {
        van: `furgoneta-${n}`,
        depotId: n % 5 === 0 ? null : `depot ${n % 4}`,
        lat: 41.979_412_3 + n / 1e6,
        lon: 2.821_4,
        eventMs,
        arrivalMs: eventMs + 900,
        speedMmPerS: known ? n * 10 : null,
        headingDegrees: known ? n % 360 : null,
        doubtful: n % 7 === 0,
        motion: n % 2 === 0 ? 'moving' : 'stopped',
        place: n % 11 === 0 ? null : `Vila-seca de ${n % 20}`,
        partition: known ? n % 6 : null,
        batteryPercent: known ? n % 101 : null,
        ...(n % 13 === 0 ? {} : { slot: n }),
      }
    })
    const delta: PanelDelta = { sequence: 9, nowMs: 2, points }
    const wire = throughJson(encodeDelta(delta))
    expect(decodeDelta(wire)).toEqual(delta)
    expect(JSON.stringify(wire).length).toBeLessThan(JSON.stringify(delta).length / 2.5)
    expect(decodeSnapshot(throughJson(encodeSnapshot({ ...snapshot, points })))).toEqual({ ...snapshot, points })
    const damaged = wire as { points: { rows: number[] } }
    damaged.points.rows.pop()
    expect(() => decodeDelta(damaged)).toThrow(/12 each/)
  })
})
