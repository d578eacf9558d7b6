import { readFileSync } from 'node:fs'
import { DEFAULT_POSITIONS_SETTINGS as DEFAULTS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { describe, expect, it } from 'vitest'
import { PartitionTask } from './partition-task.ts'
import { RECORDED_CUT, recordedLog } from './recorded-log.ts'

/** Taken by the program of before the state was lines, from the first part of the recorded log. */
const recorded = readFileSync(new URL('./state-version-1.txt', import.meta.url), 'utf8').trim()

const task = () => new PartitionTask(3, 2, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0)

describe('a state of version 1', () => {
  it('goes on as if it had been taken today', () => {
    const log = recordedLog()
    const uncut = task()
    uncut.apply(log.slice(0, RECORDED_CUT), RECORDED_CUT)
    const expected = uncut.apply(log.slice(RECORDED_CUT), log.length).records
    const restored = task()
    restored.restore(recorded, RECORDED_CUT)
    const { records } = restored.apply(log.slice(RECORDED_CUT), log.length)
    expect(records).toEqual(expected)
    expect(records.length).toBeGreaterThan(30)
    expect(restored.snapshot()).toBe(uncut.snapshot())
  })

  it('of other settings is refused', () => {
    const other = createPositionsHost({ ...DEFAULTS, sessionGapMs: 60_000 })
    expect(() => new PartitionTask(3, 2, other, 0).restore(recorded, 0)).toThrow(/sessionGapMs: 180000 there, 60000 here/)
  })
})
