import { describe, expect, it } from 'vitest'
import { type HealthSituation, inputHealth, kafkaHealth, leaseHealth, partitionsHealth } from './bridge-health.ts'

const T0 = 1_772_442_000_000
const lease = (silentMs: number, state: 'held' | 'unsure' | 'no') =>
  leaseHealth({ nowMs: T0, startedMs: T0 - 600_000, state, lastContactMs: T0 - silentMs })
const input = (more: Partial<HealthSituation>) => inputHealth({ probe: 'ok', sharedClientId: null, ...more } as HealthSituation)

describe('health of the lease', () => {
  it('says which of the two it is', () => {
    expect(lease(500, 'held')).toEqual({ status: 'ok', detail: 'active' })
    expect(lease(500, 'no')).toEqual({ status: 'ok', detail: 'standing by' })
  })

  it('is degraded, then down while nothing is heard of the keeper', () => {
    expect(lease(7_000, 'unsure')).toEqual({ status: 'degraded', detail: 'active; the keeper of the lease has not answered for 7 s' })
    expect(lease(31_000, 'no').status).toBe('down')
  })

  it('gives a start its time', () => {
    expect(leaseHealth({ nowMs: T0, startedMs: T0 - 2_000, state: 'no', lastContactMs: null })).toEqual({
      status: 'ok',
      detail: 'asking for the lease',
    })
    expect(leaseHealth({ nowMs: T0, startedMs: T0 - 40_000, state: 'no', lastContactMs: null }).status).toBe('down')
  })
})

describe('health of the connection to the log', () => {
  const kafka = (more: Partial<HealthSituation>) =>
    kafkaHealth({
      ...{ nowMs: T0, startedMs: T0 - 600_000, logKnown: true, kafkaFailingSinceMs: null, kafkaUnansweredSinceMs: null },
      ...{ queueFull: false, queueMessages: 3, ...more },
    } as HealthSituation)

  it('is degraded, then down, when batches fail', () => {
    expect(kafka({}).status).toBe('ok')
    expect(kafka({ kafkaFailingSinceMs: T0 - 1_000 }).status).toBe('degraded')
    expect(kafka({ kafkaFailingSinceMs: T0 - 31_000 }).status).toBe('down')
  })

  it('is so too when a Kafka that stands still neither takes a batch nor lets it fail', () => {
    expect(kafka({ kafkaUnansweredSinceMs: T0 - 9_000 }).status).toBe('ok')
    expect(kafka({ kafkaUnansweredSinceMs: T0 - 11_000 })).toEqual({ status: 'degraded', detail: 'no answer for 11 s, 3 messages wait' })
    expect(kafka({ kafkaUnansweredSinceMs: T0 - 40_000 }).status).toBe('down')
    // The first attempt fails at last: it is no younger for that.
    expect(kafka({ kafkaUnansweredSinceMs: T0 - 40_000, kafkaFailingSinceMs: T0 - 100 }).status).toBe('down')
  })
})

describe('health of the partitions that are ours alone', () => {
  it('is degraded while another bridge writes into them, and names it', () => {
    const of = (neighbours: ReadonlyMap<string, readonly number[]>) => partitionsHealth({ neighbours } as HealthSituation)
    expect(of(new Map())).toEqual({ status: 'ok' })
    expect(of(new Map([['km0-pont-sud', [2, 3]]]))).toMatchObject({
      status: 'degraded',
      detail: expect.stringContaining('km0-pont-sud writes into 2, 3 beside this bridge'),
    })
  })
})

describe('health of the input', () => {
  it('is red when deaf, degraded for a shared client id and for probes that are not taken', () => {
    expect(input({}).status).toBe('ok')
    expect(input({ probe: 'deaf', sharedClientId: 'km0-pont' }).status).toBe('down')
    expect(input({ sharedClientId: 'km0-pont' })).toMatchObject({ status: 'degraded', detail: expect.stringContaining('km0-pont') })
    expect(input({ probe: 'unsent' }).status).toBe('degraded')
  })
})
