import { type BatchRow, DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPositionsBatch } from './positions-batch.ts'
import { type PositionColumns, positionsBatchOver } from './positions-columns.ts'

interface Point {
  readonly van: string
  readonly eventMs: number
  readonly lat: number
  readonly lon: number
  readonly partition: number
}

const START_MS = 1_789_380_000_000
const VANS = ['a', 'b', 'ç', '😀']

/** Columns of points whose offset is their index, rows in the order that `order` says. */
function columnsOf(points: readonly Point[], order: readonly number[]): PositionColumns {
  const rows = order.map((offset) => ({ ...points[offset]!, offset }))
  return {
    rowCount: rows.length,
    vans: VANS,
    van: Uint32Array.from(rows, ({ van }) => VANS.indexOf(van)),
    eventMs: Float64Array.from(rows, ({ eventMs }) => eventMs),
    lat: Float64Array.from(rows, ({ lat }) => lat),
    lon: Float64Array.from(rows, ({ lon }) => lon),
    epoch: new Int32Array(rows.length),
    partition: Int32Array.from(rows, ({ partition }) => partition),
    offset: Float64Array.from(rows, ({ offset }) => offset),
  }
}

const point = fc.record({
  van: fc.constantFrom(...VANS),
  // Few distinct times, so that twins are many.
  eventMs: fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((n) => START_MS + n * 30_000),
    fc.integer({ min: 0, max: 7_200_000 }).map((ms) => START_MS + ms),
    // Across days of Madrid, and farther apart than any step is counted.
    fc.integer({ min: 0, max: 20 * 24 }).map((hours) => START_MS + hours * 3_600_000),
  ),
  lat: fc.integer({ min: 41_000, max: 41_050 }).map((n) => n / 1000),
  lon: fc.integer({ min: 2_000, max: 2_050 }).map((n) => n / 1000),
  partition: fc.nat({ max: 2 }),
})
const range = fc.option(
  fc
    .tuple(fc.nat({ max: 120 }), fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1_440, max: 28_800 })))
    .map(([from, minutes]) => {
      const fromMs = START_MS + from * 60_000
      return { fromMs, toMs: fromMs + minutes * 60_000 }
    }),
  { nil: undefined },
)

describe('a batch run over columns', () => {
  it('gives the rows of a run over the same records, whatever the order of the rows', () => {
    const input = fc.array(point, { maxLength: 150 }).chain((points) =>
      fc.record({
        points: fc.constant(points),
        order: fc.shuffledSubarray([...points.keys()], { minLength: points.length, maxLength: points.length }),
        isSorted: fc.boolean(),
        range,
      }),
    )
    fc.assert(
      fc.property(input, ({ points, order, isSorted, range }) => {
        const records = createPositionsBatch(DEFAULT_POSITIONS_SETTINGS, range)
        points.forEach(({ van, eventMs, lat, lon, partition }, offset) => {
          const text = JSON.stringify({ repartidor: van, lat, lon, data_ms: eventMs })
          records.onRecord(partition, offset, eventMs, van, text, new TextEncoder().encode(text).length, true)
        })
        const rows: BatchRow[] = []
        const columns = columnsOf(points, isSorted ? [...points.keys()] : order)
        positionsBatchOver(columns, (key, value) => rows.push({ key, value }), DEFAULT_POSITIONS_SETTINGS, range)
        expect(rows.sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(records.rows())
      }),
      { numRuns: 300 },
    )
  })

  it('emits van after van', () => {
    const points = [0, 1, 2, 3].map((n) => ({ van: VANS[3 - n]!, eventMs: START_MS + n, lat: 41, lon: 2, partition: 0 }))
    const owners: string[] = []
    positionsBatchOver(columnsOf(points, [0, 1, 2, 3]), (key) => owners.push(key.split('|')[1]!))
    expect([...new Set(owners)]).toEqual(VANS)
  })
})
