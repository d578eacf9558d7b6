import { type BatchRow, DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { currentSnapshot, type LakeRecord, LakeWriter, maintain, openLake, POSITIONS, readBatchInput, rowMaker } from '@km0/lake'
import { batchNeedsFromMs, createPositionsBatch } from '@km0/pipelines'
import { positionsBatchOver } from '@km0/pipelines/positions/positions-columns'
import { startServices, type TestServices } from '@km0/testkit/services'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from './lake-folders.ts'

let services: TestServices<{ postgres: true }>
let missing: string | null

beforeAll(async () => {
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
})
afterAll(() => services?.stop())

/** 22:10 UTC before the night in which Madrid's clocks go back. */
const START_MS = Date.UTC(2026, 9, 24, 22, 10)
const MINUTE_MS = 60_000
const SPAN_MIN = 30 * 60
const settings = DEFAULT_POSITIONS_SETTINGS

/** Bursts of points with steps around the session gap, so that sessions cross every border; twins now and then. */
const burst = fc.record({
  van: fc.constantFrom('a', 'b', 'c'),
  startMin: fc.nat({ max: SPAN_MIN }),
  steps: fc.array(fc.constantFrom(0, 1, 20_000, 100_000, 150_000, 179_999, 180_000, 180_000, 180_001, 1_500_000), {
    minLength: 5,
    maxLength: 60,
    size: 'max',
  }),
})
/** A range that begins or ends near the beginning of a burst, so that most borders fall into a session. */
const range = fc.record({
  burst: fc.nat(),
  afterMin: fc.integer({ min: -30, max: 60 }),
  lengthMin: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 40, max: 12 * 60 })),
  vans: fc.option(fc.subarray(['a', 'b', 'c'], { minLength: 1 }), { nil: undefined }),
})

function recordsOf(
  bursts: readonly { van: string; startMin: number; steps: readonly number[] }[],
  prefix: string,
  firstOffset: number,
): LakeRecord[] {
  const points = bursts.flatMap(({ van, startMin, steps }) => {
    let eventMs = START_MS + startMin * MINUTE_MS
    return steps.map((step) => {
      eventMs += step
      return { van: `${prefix}${van}`, eventMs }
    })
  })
  return points.map(({ van, eventMs }, index) => {
    const value = JSON.stringify({ repartidor: van, lat: 41 + (index % 50) / 1e4, lon: 2 + (index % 37) / 1e4, data_ms: eventMs })
    return { partition: 0, offset: firstOffset + index, timestampMs: eventMs + 1_000, key: van, value: Buffer.from(value), headers: {} }
  })
}

it('a range run over the lake equals the cut of the whole (property)', { timeout: 180_000 }, async (test) => {
  test.skip(missing !== null, missing ?? '')
  const lake = await openLake(lakeSettings(services, 'batch', { inlineRows: 60 }))
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  await writer.nextOffset(POSITIONS, 0)
  const maker = rowMaker(POSITIONS, 1, settings)
  let next = 0
  let compared = 0
  const input = fc.record({
    bursts: fc.array(burst, { minLength: 1, maxLength: 12 }),
    ranges: fc.array(range, { minLength: 2, maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(input, async ({ bursts, ranges }) => {
      // Each run has vans of its own, since the lake keeps those of the runs before.
      const prefix = `${next}-`
      const records = recordsOf(bursts, prefix, next)
      if (records.length === 0) return
      const rows = records.map((record) => maker.row(record)).filter((row) => row !== null)
      const nextOffset = next + records.length
      await writer.append([
        { table: POSITIONS, partition: 0, fromOffset: next, nextOffset, rows, newestArrivalMs: null, newestEventMs: null },
      ])
      next = nextOffset
      const snapshot = await currentSnapshot(lake)
      for (const { burst: number, afterMin, lengthMin, vans } of ranges) {
        const fromMs = START_MS + ((bursts[number % bursts.length]?.startMin ?? 0) + afterMin) * MINUTE_MS
        const cut = { fromMs, toMs: fromMs + lengthMin * MINUTE_MS }
        const names = (vans ?? ['a', 'b', 'c']).map((van) => `${prefix}${van}`)
        const whole = createPositionsBatch(settings, cut)
        for (const { partition, offset, timestampMs, key, value } of records) {
          if (key === null || !names.includes(key)) continue
          whole.onRecord(partition, offset, timestampMs, key, String(value), value?.length ?? 0, true)
        }
        const needsFromMs = batchNeedsFromMs(settings, cut.fromMs)
        const { sessionGapMs, maxAgeMs: maxGapMs } = settings
        const columns = await readBatchInput(lake, { ...cut, needsFromMs, sessionGapMs, maxGapMs, vans: names, snapshot, stepMs: 600_000 })
        const found: BatchRow[] = []
        positionsBatchOver(columns, (key, value) => found.push({ key, value }), settings, cut)
        const expected = whole.rows()
        compared += expected.length
        expect(found.sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(expected)
      }
      if (next % 7 === 0) await maintain(lake, { keepSnapshotsMs: 0, keepFilesMs: 0 }, Date.now() + 1_000)
    }),
    { numRuns: 20 },
  )
  expect(compared).toBeGreaterThan(20)
  lake.close()
})
