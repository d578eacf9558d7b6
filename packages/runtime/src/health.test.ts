import { describe, expect, it } from 'vitest'
import { Health } from './health.ts'

describe('health', () => {
  it('is as bad as its worst part', () => {
    const health = new Health()
    expect(health.report()).toEqual({ status: 'ok', parts: {} })
    health.register('kafka', () => ({ status: 'degraded', detail: 'slow' }))
    health.register('postgres', () => ({ status: 'ok' }))
    expect(health.report().status).toBe('degraded')
    health.register('mqtt', () => ({ status: 'down' }))
    expect(health.report()).toMatchObject({ status: 'down', parts: { kafka: { detail: 'slow' } } })
  })

  it('refuses a part that is registered twice', () => {
    const health = new Health()
    health.register('kafka', () => ({ status: 'ok' }))
    expect(() => health.register('kafka', () => ({ status: 'ok' }))).toThrow(/twice/)
  })
})
