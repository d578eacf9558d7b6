import { LogRefusedError, LogUnavailableError } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import { safeBrokers, untilAvailable } from './prepare-log.ts'

describe('a log that is not quite there', () => {
  const failing = (times: number, error: Error) => {
    let calls = 0
    return { calls: () => calls, work: async () => (++calls <= times ? Promise.reject(error) : 'done') }
  }

  it('is asked again while it says that it is not available', async () => {
    const { work, calls } = failing(3, new LogUnavailableError('This is not the correct coordinator for this group'))
    expect(await untilAvailable(work, 1_000, 1)).toBe('done')
    expect(calls()).toBe(4)
  })

  it('is given up after a while, with its own words', async () => {
    const { work } = failing(Number.POSITIVE_INFINITY, new LogUnavailableError('no broker'))
    await expect(untilAvailable(work, 20, 1)).rejects.toThrow('no broker')
  })

  it('is not asked again for what it refuses', async () => {
    const { work, calls } = failing(3, new LogRefusedError('too large', 'MESSAGE_TOO_LARGE'))
    await expect(untilAvailable(work, 1_000, 1)).rejects.toThrow('too large')
    expect(calls()).toBe(1)
  })
})

describe('the brokers of a log that is not ours', () => {
  it('are reached as the settings of Kafka say', () => {
    expect(safeBrokers('a:1,b:2', { KAFKA_TLS: 'true', KAFKA_USERNAME: 'km0', KAFKA_PASSWORD: 'p,w', MQTT_USERNAME: 'alone' })).toEqual([
      'kafkas://km0:p%2Cw@a:1?sasl=scram-sha-512',
      'kafkas://km0:p%2Cw@b:2?sasl=scram-sha-512',
    ])
    expect(safeBrokers('a:1,b:2', {})).toEqual(['a:1', 'b:2'])
  })

  it('are not reached with half of a setting, and it is named', () => {
    expect(() => safeBrokers('a:1', { KAFKA_USERNAME: 'km0' })).toThrow(/KAFKA_USERNAME, KAFKA_PASSWORD: one is set without the other/)
  })
})
