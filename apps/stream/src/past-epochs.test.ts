import { createLogger } from '@km0/runtime'
import { afterEach, expect, it, vi } from 'vitest'
import { clearPastEpochs } from './past-epochs.ts'

afterEach(() => vi.useRealTimers())

it('looks at once and every hour, with its own epoch and the age that is set, also after the store was away', async () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 5, 30) })
  const asked: unknown[] = []
  const store = {
    async removePast(...given: unknown[]) {
      asked.push(given)
      if (asked.length === 1) throw new Error('away')
      return 2
    },
  }
  const end = clearPastEpochs({ store, pipeline: 'p', epoch: 7, keptDays: 30, log: createLogger('test', 'silent') })
  expect(asked).toEqual([['p', 7, Date.UTC(2026, 4, 31)]])
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(asked).toHaveLength(2)
  end()
  await vi.advanceTimersByTimeAsync(7_200_000)
  expect(asked).toHaveLength(2)
})
