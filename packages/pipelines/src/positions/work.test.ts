import { DEFAULT_POSITIONS_SETTINGS, RECORD_FLAGS } from '@km0/contracts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createPositionsHost } from '../index.ts'
import { type PositionColumns, positionsBatchOver } from './positions-columns.ts'

// Guard of speed. It counts work, which is the same on each machine. A bound is a fourth above the count of today.
const lengths = vi.hoisted(() => ({ computed: 0, cosines: 0 }))

vi.mock('./geometry.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('./geometry.ts')>()
  const distanceMm: typeof real.distanceMm = (...points) => {
    lengths.computed += 1
    return real.distanceMm(...points)
  }
  const haversineMm: typeof real.haversineMm = (...points) => {
    lengths.computed += 1
    return real.haversineMm(...points)
  }
  const latitudeCosine: typeof real.latitudeCosine = (lat) => {
    lengths.cosines += 1
    return real.latitudeCosine(lat)
  }
  return { ...real, distanceMm, haversineMm, latitudeCosine }
})

const START_MS = 1_789_380_000_000
const RECORDS = 20_000
const VANS = 20

/** 20 vans, a point every 5 s each: 95 in 100 come within 2 s, 4 within the delay, 1 after it. The same each time. */
function fleetDay() {
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  const lat = new Array<number>(VANS).fill(41.9)
  return Array.from({ length: RECORDS }, (_, index) => {
    const [van, timestampMs, luck] = [index % VANS, START_MS + index * 250, random()]
    const lateMs = luck < 0.95 ? random() * 2_000 : luck < 0.99 ? random() * 45_000 : random() * 240_000
    lat[van] = lat[van]! + random() / 2_000
    return { van, timestampMs, lat: lat[van], lon: 2.8, eventMs: Math.floor(timestampMs - lateMs) }
  })
}

const day = fleetDay()

/** Goes through the day as the job does, 1,000 records a slice; how many points were counted, and rows that they gave. */
function runLive(livePoints: boolean) {
  const host = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, livePoints }, null, { coalesceLivePoints: true })
  let [accepted, windows] = [0, 0]
  day.forEach(({ van, timestampMs, lat, lon, eventMs }, offset) => {
    const text = JSON.stringify({ repartidor: `furgoneta-${van}`, lat, lon, data_ms: eventMs })
    const flags = host.onRecord(0, offset, timestampMs, null, text, text.length, true)
    if ((flags & RECORD_FLAGS.accepted) !== 0) accepted += 1
    if (offset % 1_000 === 999) windows += host.drain().filter(({ key }) => key?.startsWith('distancia')).length
  })
  return { accepted, windows }
}

beforeEach(() => {
  lengths.computed = 0
  lengths.cosines = 0
})

describe('lengths that are computed', () => {
  it('live: one for the step of a point, two more where it comes between others, one a window', () => {
    const { accepted, windows } = runLive(false)
    expect(accepted).toBeGreaterThan(0.98 * RECORDS)
    expect(windows).toBeGreaterThan(RECORDS / 20)
    expect((lengths.computed - windows) / accepted).toBeGreaterThan(1)
    expect((lengths.computed - windows) / accepted).toBeLessThan(1.35)
  })

  it('live points: two more, for speed and for standing still', () => {
    const { accepted, windows } = runLive(true)
    expect((lengths.computed - windows) / accepted).toBeLessThan(3.7)
  })

  it('batch: one a point and one a window; one cosine a point', () => {
    const columns: PositionColumns = {
      rowCount: RECORDS,
      vans: Array.from({ length: VANS }, (_, van) => `furgoneta-${van}`),
      van: Uint32Array.from(day, ({ van }) => van),
      eventMs: Float64Array.from(day, ({ eventMs }) => eventMs),
      lat: Float64Array.from(day, ({ lat }) => lat),
      lon: Float64Array.from(day, ({ lon }) => lon),
      epoch: new Int32Array(RECORDS),
      partition: new Int32Array(RECORDS),
      offset: Float64Array.from(day, (_, index) => index),
    }
    let windows = 0
    positionsBatchOver(columns, (key) => {
      if (key.startsWith('distancia')) windows += 1
    })
    expect(windows).toBeGreaterThan(RECORDS / 20)
    expect((lengths.computed - windows) / RECORDS).toBeLessThan(1.1)
    expect(lengths.cosines / RECORDS).toBeLessThan(1.1)
  })
})
