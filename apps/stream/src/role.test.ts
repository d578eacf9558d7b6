import { describe, expect, it } from 'vitest'
import { groupHealth } from './role.ts'

const member = (assignment: ReadonlyMap<string, readonly number[]> | null) => ({
  assignment: () => assignment,
  assignmentSinceMs: () => 1_000,
})

describe('health of a group member', () => {
  it('is fine with partitions, and as a spare without', () => {
    expect(groupHealth(member(new Map([['t', [0, 1]]])), 2_000)).toEqual({ status: 'ok' })
    expect(groupHealth(member(new Map([['t', []]])), 2_000)).toMatchObject({ status: 'ok', detail: expect.stringContaining('spare') })
  })

  it('is degraded while it joins, and down when that lasts', () => {
    expect(groupHealth(member(null), 2_000).status).toBe('degraded')
    expect(groupHealth(member(null), 32_000).status).toBe('down')
  })
})
