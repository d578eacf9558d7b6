import { DEFAULT_POSITIONS_SETTINGS, type Emission } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { createPositionsHost } from './positions-host.ts'

const T0 = 1_789_380_000_000

/** Three vans in two partitions, with drains in between. */
function run(coalesceLivePoints: boolean): Emission[][] {
  const host = createPositionsHost(DEFAULT_POSITIONS_SETTINGS, null, { coalesceLivePoints })
  const drained: Emission[][] = []
  for (let n = 0; n < 120; n += 1) {
    const partition = n % 3 === 0 ? 1 : 0
    const nowMs = T0 + n * 5_000
    // Every seventh point is older than the one before it.
    const value = { repartidor: `furgoneta-${n % 3}`, lat: 41.9 + n / 1e4, lon: 2.8, data_ms: nowMs - (n % 7 === 0 ? 40_000 : 0) }
    const text = JSON.stringify(value)
    host.onRecord(partition, n, nowMs, null, text, text.length, true)
    if (n % 20 === 19) drained.push(host.drain())
  }
  return drained
}

describe('coalesced live points', () => {
  const isLive = ({ output }: Emission) => output === 'viu'

  it('are the last of each van at a drain, and nothing else changes', () => {
    const each = run(false)
    const coalesced = run(true)
    expect(coalesced.map((drain) => drain.filter((emission) => !isLive(emission)))).toEqual(
      each.map((drain) => drain.filter((emission) => !isLive(emission))),
    )
    for (const [index, drain] of each.entries()) {
      const newest = new Map(drain.filter(isLive).map((emission) => [emission.key, emission]))
      const live = coalesced[index]?.filter(isLive) ?? []
      expect(live).toHaveLength(3)
      expect(new Map(live.map((emission) => [emission.key, emission]))).toEqual(newest)
    }
  })

  it('are forgotten by a restore', () => {
    const host = createPositionsHost(DEFAULT_POSITIONS_SETTINGS, null, { coalesceLivePoints: true })
    const snapshot = host.snapshot()
    const text = JSON.stringify({ repartidor: 'furgoneta-3', lat: 41.9, lon: 2.8, data_ms: T0 })
    host.onRecord(0, 0, T0, null, text, text.length, true)
    host.restore(snapshot)
    expect(host.drain()).toEqual([])
  })
})
