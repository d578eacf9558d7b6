import { createPositionsHost } from '@km0/pipelines'
import { describe, expect, it } from 'vitest'
import { type CompareOptions, compareResults, type StoredRow } from './verify-compare.ts'
import { ExpectedResults, type ReplayRecord } from './verify-expected.ts'

const T0 = 1_789_380_000_000

const record = (offset: number, timestampMs: number, value: object): ReplayRecord => ({
  offset,
  timestampMs,
  key: null,
  value: Buffer.from(JSON.stringify(value)),
})

/** A van for ten minutes, then heartbeats until all is closed. */
function logFrom(firstOffset: number): ReplayRecord[] {
  return Array.from({ length: 240 }, (_, n) => {
    const nowMs = T0 + n * 5_000
    const value = n < 120 ? { repartidor: 'a', lat: 41 + n / 1e4, lon: 2, data_ms: nowMs } : { tipus: 'batec', data_ms: nowMs }
    return record(firstOffset + n, nowMs, value)
  })
}

function expectedFrom(firstOffset: number): ExpectedResults {
  const expected = new ExpectedResults(createPositionsHost())
  const records = logFrom(firstOffset)
  expected.apply(0, records.slice(0, 100))
  expected.apply(0, records.slice(100))
  return expected
}

/** What a sink that has applied everything holds. */
function storedOf(expected: ExpectedResults, epoch = 1): StoredRow[] {
  return [...expected.byKey].map(([key, { value, partition, offset }]) => ({
    key,
    value: JSON.parse(value),
    source: { epoch, partition, offset },
  }))
}

async function* rows(list: readonly StoredRow[]): AsyncGenerator<StoredRow> {
  yield* list
}

const options: CompareOptions = { until: new Map([[0, 240]]), epoch: 1, showFirst: 10 }
const compare = (expected: ExpectedResults, list: readonly StoredRow[], more: Partial<CompareOptions> = {}) =>
  compareResults(expected, rows(list), { ...options, ...more })

describe('comparing the store with the log', () => {
  const expected = expectedFrom(0)
  const stored = storedOf(expected)

  it('finds equal what is equal, and counts it by kind', async () => {
    const comparison = await compare(expected, stored)
    expect(comparison.differences).toBe(0)
    expect(comparison.equal).toEqual({ distancia: 14, sessio: 1, senyal: 1 })
    expect(Object.values(comparison.equal).reduce((a, b) => a + b, 0)).toBe(expected.byKey.size)
  })

  it('finds what is different, missing, or too much, and shows the first', async () => {
    const [first, second, ...rest] = stored
    if (first === undefined || second === undefined) throw new Error('nothing expected')
    const wrong = [{ ...first, value: { ...first.value, posicions: 99 } }, { ...second, key: 'sessio|ghost|1' }, ...rest]
    const comparison = await compare(expected, wrong)
    expect(comparison.differences).toBe(3)
    expect(comparison.first.map(({ kind }) => kind).sort()).toEqual(['different', 'missing', 'unexpected'])
    expect((await compare(expected, wrong, { showFirst: 1 })).first).toHaveLength(1)
  })

  it('finds a member that is there too much or in another order', async () => {
    const [first, ...rest] = stored
    if (first === undefined) throw new Error('nothing expected')
    expect((await compare(expected, [{ ...first, value: { ...first.value, more: 1 } }, ...rest])).differences).toBe(1)
  })

  it('passes over what was written after the replay ended', async () => {
    const newer = stored.map((row) => ({ ...row, value: { ...row.value, posicions: 0 }, source: { ...row.source, offset: 240 } }))
    const comparison = await compare(expected, newer)
    expect(comparison).toMatchObject({ differences: 0, equal: {}, passedOver: { newer: stored.length } })
  })

  it('passes over rows of an earlier log, but not over a key that this log has', async () => {
    const old = { key: 'sessio|old|1', value: { inici_ms: 1 }, source: { epoch: 1, partition: 0, offset: 5 } }
    expect(await compare(expected, [...storedOf(expected, 2), old], { epoch: 2 })).toMatchObject({
      differences: 0,
      passedOver: { earlierEpoch: 1 },
    })
    const [first, ...rest] = storedOf(expected, 2)
    if (first === undefined) throw new Error('nothing expected')
    const stale = { ...first, value: { ...first.value, posicions: 1 }, source: { ...first.source, epoch: 1 } }
    expect((await compare(expected, [stale, ...rest], { epoch: 2 })).differences).toBe(1)
  })

  it('compares only what begins after the warm-up when the log has lost its beginning', async () => {
    const cut = expectedFrom(1_000)
    expect(cut.cutPartitions()).toEqual([0])
    expect(expected.cutPartitions()).toEqual([])
    const comparison = await compare(cut, [], { until: new Map([[0, 1_240]]) })
    const early = [...cut.byKey].filter(([, { value }]) => {
      const { inici_ms: start, des_de_ms: since } = JSON.parse(value)
      return (start ?? since) < T0 + 480_000
    })
    expect(comparison.passedOver.beforeLog).toBe(early.length)
    expect(comparison.differences).toBe(cut.byKey.size - early.length)
    expect(early.length).toBeGreaterThan(0)
    expect(comparison.differences).toBeGreaterThan(0)
  })
})
