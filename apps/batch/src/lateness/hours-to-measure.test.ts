import { expect, it } from 'vitest'
import { hoursToMeasure } from './hours-to-measure.ts'

const HOUR = 3_600_000
const NOW = 500_000 * HOUR + 17 * 60_000
const given = { nowMs: NOW, keepHours: 25, settleMs: 600_000 }
const hour = (ago: number, measuredAtMs: number) => ({ hourMs: (500_000 - ago) * HOUR, measuredAtMs })

it('measures all at first, then what was not settled, always the hour that goes on', () => {
  const all = { fromMs: (500_001 - 25) * HOUR, toMs: 500_001 * HOUR }
  expect(hoursToMeasure([], given)).toEqual(all)
  const settled = Array.from({ length: 24 }, (_, index) => hour(24 - index, NOW))
  expect(hoursToMeasure(settled, given)).toEqual({ fromMs: 500_000 * HOUR, toMs: 500_001 * HOUR })
  expect(hoursToMeasure([...settled, hour(0, NOW)], given).fromMs).toBe(500_000 * HOUR)
  // The last one was measured right when it ended: some of it may have come to the lake later.
  const early = settled.map((one) => (one.hourMs === (500_000 - 1) * HOUR ? { ...one, measuredAtMs: 500_000 * HOUR } : one))
  expect(hoursToMeasure(early, given).fromMs).toBe((500_000 - 1) * HOUR)
})
