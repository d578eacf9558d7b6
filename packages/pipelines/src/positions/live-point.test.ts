import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LivePointOperator, type LiveState } from './live-point.ts'
import { StepRules } from './steps.ts'

const settings = DEFAULT_POSITIONS_SETTINGS
const create = (variant = {}) => {
  const all = { ...settings, ...variant }
  return new LivePointOperator(new StepRules(all), all)
}
const operator = create()
const METRE = 1 / 111_195

/** The row of the last of some points on a meridian, `[seconds, metres to the north]`, in order of arrival. */
function last(...points: readonly (readonly [number, number])[]) {
  const state: LiveState = []
  return points.map(([seconds, metres]) => operator.add(state, seconds * 1000, 41.98 + metres * METRE, 2.82)).at(-1)
}

describe('the newest point', () => {
  it('is a row only when it is newer than all seen before', () => {
    expect(last([100, 0])).toEqual({ speedMmPerS: null, headingDegrees: null, doubtful: false, stopped: false })
    expect(last([100, 0], [99, 0])).toBeNull()
    expect(last([100, 0], [100, 50])).toBeNull()
    expect(last([100, 0], [90, 0], [95, 0])).toBeNull()
  })

  it('has its speed from the point before in event time, also when that came late', () => {
    expect(last([0, 0], [10, 100])?.speedMmPerS).toBe(10_000)
    expect(last([0, 0], [20, 500], [10, 400], [30, 600])?.speedMmPerS).toBe(10_000)
    expect(last([100, 0], [95, 50], [110, 100])?.speedMmPerS).toBe(10_000)
    expect(last([100, 0], [280, 100])?.speedMmPerS).toBe(556)
    expect(last([100, 0], [280.001, 100])?.speedMmPerS).toBeNull()
  })

  it('has no heading when it has not moved', () => {
    expect(last([0, 0], [10, 0])).toMatchObject({ speedMmPerS: 0, headingDegrees: null })
    expect(last([0, 0], [10, 5])?.headingDegrees).toBe(0)
    expect(last([0, 0], [10, -5])?.headingDegrees).toBe(180)
  })

  it('is in doubt when a jump leads to it, until the next agrees', () => {
    const far = 1_000_000
    expect(last([0, 0], [10, far])).toMatchObject({ doubtful: true, speedMmPerS: null, headingDegrees: null })
    expect(last([0, 0], [10, far], [20, 100])).toMatchObject({ doubtful: false, speedMmPerS: 5000 })
    expect(last([0, 0], [10, far], [20, far + 100])).toMatchObject({ doubtful: false, speedMmPerS: 10_000 })
    expect(last([0, 0], [10, far], [20, 2 * far])?.doubtful).toBe(true)
    expect(last([0, 0], [10, 699.9])?.doubtful).toBe(false)
    expect(last([0, 0], [10, 700.1])?.doubtful).toBe(true)
  })
})

describe('stopped', () => {
  it('is nearer than 30 m to where it was 120 s before', () => {
    expect(last([0, 0], [120, 29])?.stopped).toBe(true)
    expect(last([0, 0], [120, 30.1])?.stopped).toBe(false)
    expect(last([0, 0], [60, 500], [120, 0])?.stopped).toBe(true)
    expect(last([0, 0], [10, 25], [130, 50])?.stopped).toBe(true)
  })

  it('is known from 60 s on when nothing older is', () => {
    expect(last([0, 0], [59, 0])?.stopped).toBe(false)
    expect(last([0, 0], [60, 0])?.stopped).toBe(true)
    expect(last([0, 0], [30, 0], [60, 40])?.stopped).toBe(false)
  })

  it('takes a sparse fix for where it was, up to 12 minutes old', () => {
    expect(last([0, 0], [720, 0])?.stopped).toBe(true)
    expect(last([0, 0], [720.001, 0])?.stopped).toBe(false)
  })
})

describe('what is kept', () => {
  it('is bounded, and never too little: rows equal those of an operator that forgets nothing', () => {
    const step = fc.tuple(fc.integer({ min: -300, max: 200 }), fc.integer({ min: -60, max: 60 }), fc.boolean())
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const state: LiveState = []
        const all: [number, number][] = []
        let now = 1_000_000
        for (const [seconds, metres, jump] of steps) {
          now += Math.max(seconds, -100)
          const lat = 41.98 + (metres + (jump && metres > 40 ? 1e6 : 0)) * METRE
          const row = operator.add(state, now * 1000, lat, 2.82)
          if (!all.some(([at]) => at === now)) all.push([now, lat])
          expect(state.length / 3).toBeLessThan(400)
          if (row === null) continue
          const fresh: LiveState = []
          for (const [at, north] of [...all].sort(([a], [b]) => a - b).slice(-60, -1)) fresh.push(at * 1000, north, 2.82)
          expect(row).toEqual(create({ maxSegmentMs: 180_000 }).add(fresh, now * 1000, lat, 2.82))
        }
      }),
    )
  })

  it('stays small when a van sends nothing but its past', () => {
    const state: LiveState = []
    for (let i = 0; i < 5000; i += 1) operator.add(state, 1_000_000_000 - i * 1000, 41, 2)
    expect(state.length / 3).toBeLessThan(200 + 16)
    const rows = state.slice()
    operator.forget(state)
    expect(state.length / 3).toBe(181)
    expect(operator.add(state, 1_000_001_000, 41, 2)).toEqual(operator.add(rows, 1_000_001_000, 41, 2))
  })

  it('goes when no newer point can be older', () => {
    const state: LiveState = []
    operator.add(state, 1_000_000_000, 41, 2)
    expect(operator.isGone(state, 1_000_000_000)).toBe(false)
    expect(operator.isGone(state, 1_000_000_000 + settings.maxAgeMs + 720_000)).toBe(false)
    expect(operator.isGone(state, 1_000_000_001 + settings.maxAgeMs + 720_000)).toBe(true)
  })
})
