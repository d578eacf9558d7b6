import type { LatenessView, OperationsView, PartitionView, ServiceView } from '@km0/contracts/operations-panel'
import { describe, expect, test } from 'vitest'
import { advice, countTroubles, nextDelay, prepareDelays, preparePartitions, prepareServices } from './prepare-shown.ts'

const service = (name: string, status: ServiceView['status'], backpressure: number | null = null): ServiceView => ({
  ...{ name, status, backpressure, parts: [], memoryBytes: null, startedAtMs: null },
})
const partition = (more: Partial<PartitionView> = {}): PartitionView => ({
  ...{ partition: 0, nextOffset: 1, lagRecords: 0, lagMs: 1_000, watermarkMs: 1, driftMs: 0, recordsPerS: 1, heartbeatMs: 1 },
  ...{ checkpointAgeMs: 5_000, checkpointBytes: 10, backpressure: null, ...more },
})
const lateness: LatenessView = {
  since: 'day',
  ...{ fromMs: 0, toMs: 1, measuredAtMs: 1, points: 9, p50Ms: 1, p95Ms: 1, p99Ms: 1, p999Ms: 1 },
  set: { delayMs: 45_000, share: 0.991 },
  others: [
    { delayMs: 30_000, share: 0.98 },
    { delayMs: 60_000, share: 0.993 },
  ],
  proposed: { targetShare: 0.005, delay: null },
  ...{ afterShare: 0.009, partlyLateShare: 0.005, lateShare: 0.001 },
}

describe('operations', () => {
  test('what is wrong comes first, with what to do', () => {
    const services = prepareServices([service('a', 'ok'), service('b', 'ok', 0.9), service('bridge', 'silent'), service('d', 'degraded')])
    expect(services.map(({ name, mark }) => `${name} ${mark}`)).toEqual(['bridge wrong', 'b watch', 'd watch', 'a ok'])
    expect(services.map(advice)).toEqual(['bridge', 'pressed', 'degraded', null])
    expect(advice({ name: 'x', status: 'down', mark: 'wrong', parts: [] })).toBe('other')
  })

  test('a disk that fills up is watched before anything is wrong', () => {
    const disk = { name: 'disk', status: 'ok', detail: 'lake: 83 % of its disk is used' } as const
    const [filling] = prepareServices([{ ...service('batch', 'ok'), parts: [disk] }])
    expect([filling?.mark, filling && advice(filling)]).toEqual(['watch', 'disk'])
    expect(prepareServices([{ ...service('batch', 'ok'), parts: [{ ...disk, name: 'lateness' }] }])[0]?.mark).toBe('ok')
  })

  test('a partition that is behind, drifts or is not stored is marked; what is not known is not', () => {
    const unknown = { lagMs: null, driftMs: null, checkpointAgeMs: null }
    const rows = preparePartitions([partition(), partition({ lagMs: 120_000 }), partition({ driftMs: 30_000 }), partition(unknown)])
    expect(rows.map(({ isBehind, drifts, isCheckpointOld }) => [isBehind, drifts, isCheckpointOld])).toEqual([
      [false, false, false],
      [true, false, false],
      [false, true, false],
      [false, false, false],
    ])
  })

  test('troubles are counted', () => {
    const view = { services: [service('a', 'down')], partitions: [partition(), partition({ lagMs: 1e6 })], ledger: { unnamed: 2 } }
    expect(countTroubles(view as unknown as OperationsView)).toBe(3)
    expect(countTroubles({ ...view, services: [], partitions: [], ledger: null } as unknown as OperationsView)).toBe(0)
  })

  test('delays are told beside the one that is set', () => {
    expect(prepareDelays(lateness).map(({ delayMs, isSet, olderMs }) => [delayMs, isSet, olderMs])).toEqual([
      [30_000, false, -15_000],
      [45_000, true, 0],
      [60_000, false, 15_000],
    ])
    expect(nextDelay(lateness)?.delayMs).toBe(60_000)
    expect(nextDelay({ ...lateness, set: null })).toBeNull()
  })
})
