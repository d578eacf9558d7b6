import { expect, test } from 'vitest'
import { outageSpans } from './outage-spans.ts'
import type { OutageView } from './panel.ts'

const outage = (partition: number, fromMs: number, toMs: number, cause: OutageView['cause'] = 'bridge'): OutageView => ({
  partition,
  fromMs,
  toMs,
  cause,
})

test('what overlaps is one outage; of the whole platform when every partition is in it', () => {
  const given = [
    outage(1, 1_010, 2_000),
    outage(0, 1_000, 2_010, 'unknown'),
    outage(1, 5_000, 6_000, 'kafka'),
    outage(0, 9_000, 9_500, 'unknown'),
  ]
  expect(outageSpans(given, 2)).toEqual([
    { partitions: null, fromMs: 1_000, toMs: 2_010, cause: 'bridge' },
    { partitions: [1], fromMs: 5_000, toMs: 6_000, cause: 'kafka' },
    { partitions: [0], fromMs: 9_000, toMs: 9_500, cause: 'unknown' },
  ])
  expect(outageSpans(given, 6)[0]?.partitions).toEqual([0, 1])
  expect(outageSpans([], 6)).toEqual([])
})

test('two that only touch are two', () => {
  expect(outageSpans([outage(0, 0, 100), outage(0, 100, 200)], 1).map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
    [0, 100],
    [100, 200],
  ])
})
