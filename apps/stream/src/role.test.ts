import { describe, expect, it } from 'vitest'
import { groupHealth } from './role.ts'

const member = (assignment: ReadonlyMap<string, readonly number[]> | null) => ({
  assignment: () => assignment,
  assignmentSinceMs: () => 1_000,
  lastContactMs: () => 1_500,
})

describe('health of a group member', () => {
  it('is fine with partitions, and as a spare without', () => {
    expect(groupHealth(member(new Map([['t', [0, 1]]])), 2_000)).toEqual({ status: 'ok' })
    expect(groupHealth(member(new Map([['t', []]])), 2_000)).toMatchObject({ status: 'ok', detail: expect.stringContaining('spare') })
  })

  it('is down when the log does not answer', () => {
    expect(groupHealth(member(new Map([['t', [0]]])), 12_000)).toMatchObject({
      status: 'down',
      detail: expect.stringContaining('no answer'),
    })
  })

  it('is degraded while it joins, and down when that lasts', () => {
    expect(groupHealth(member(null), 2_000).status).toBe('degraded')
    expect(groupHealth(member(null), 32_000).status).toBe('down')
  })
})
