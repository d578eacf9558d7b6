import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LivePointOperator, type LiveState } from './live-point.ts'
import { createPositionsHost } from './positions-host.ts'
import { StepRules } from './steps.ts'

const MINUTE = 60_000
const T0 = 1_789_380_000_000
const settings = { ...DEFAULT_POSITIONS_SETTINGS, liveMemoryMs: 10 * MINUTE }
const operator = new LivePointOperator(new StepRules(settings), settings)

/** Seconds until the next record, van (null: a heartbeat), lateness in seconds. */
const step = fc.tuple(
  fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 600, max: 3_000 })),
  fc.option(fc.constantFrom('a', 'b'), { freq: 3 }),
  fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_600 })),
)

describe('a short memory for silent vans', () => {
  it('changes no live point but those that are older than it: they equal those of a host that forgets nothing', () => {
    let gone = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
        const host = createPositionsHost(settings)
        const seen = new Map<string, [number, number][]>([
          ['a', []],
          ['b', []],
        ])
        let nowMs = T0
        for (const [offset, [seconds, van, lateS]] of steps.entries()) {
          nowMs += seconds * 1_000
          const oldestMs = host.finalMs(0) - settings.liveMemoryMs
          const eventMs = nowMs - lateS * 1_000
          const lat = 41.9 + (offset % 13) / 1e4
          const value = van === null ? { tipus: 'batec', data_ms: nowMs } : { repartidor: van, lat, lon: 2.8, data_ms: eventMs }
          const text = JSON.stringify(value)
          const before = host.keyCount(0)
          host.onRecord(0, offset, nowMs, null, text, text.length, true)
          if (host.keyCount(0) < before) gone += 1
          const live = host.drain().filter(({ output }) => output === 'viu')
          const all = seen.get(van ?? '') ?? []
          const counts = van !== null && eventMs >= oldestMs && !all.some(([at]) => at === eventMs)
          const newest = counts && all.every(([at]) => at < eventMs)
          if (counts) all.push([eventMs, lat])
          expect(live.map(({ key }) => key)).toEqual(newest ? [van] : [])
          const [emitted] = live
          if (emitted === undefined) continue
          const fresh: LiveState = []
          for (const [at, north] of [...all].sort(([x], [y]) => x - y).slice(0, -1)) fresh.push(at, north, 2.8)
          const row = operator.add(fresh, eventMs, lat, 2.8)
          expect(JSON.parse(emitted.value)).toMatchObject({ velocitat_mm_s: row?.speedMmPerS, rumb_graus: row?.headingDegrees })
          expect(JSON.parse(emitted.value).estat).toBe(row?.stopped ? 'aturada' : 'en-moviment')
        }
      }),
      { numRuns: 60 },
    )
    expect(gone).toBeGreaterThan(20)
  })
})
