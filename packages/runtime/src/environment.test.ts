import { describe, expect, it } from 'vitest'
import { commonEnvironment, parseEnvironment } from './environment.ts'

describe('settings from the environment', () => {
  it('takes defaults for what is missing or empty', () => {
    const settings = parseEnvironment(commonEnvironment, { KM0_HTTP_PORT: '', KAFKA_BROKERS: undefined })
    expect(settings.KM0_HTTP_PORT).toBe(0)
    expect(settings.KAFKA_BROKERS).toEqual(['127.0.0.1:9092'])
  })

  it('splits brokers', () => {
    expect(parseEnvironment(commonEnvironment, { KAFKA_BROKERS: 'a:1, b:2' }).KAFKA_BROKERS).toEqual(['a:1', 'b:2'])
  })

  it('names each variable that is wrong', () => {
    const wrong = { KM0_HTTP_PORT: '70000', KAFKA_BROKERS: 'nowhere', KM0_CLOCK: 'sundial' }
    expect(() => parseEnvironment(commonEnvironment, wrong)).toThrow(/KAFKA_BROKERS[\s\S]*KM0_HTTP_PORT[\s\S]*KM0_CLOCK/)
  })
})
