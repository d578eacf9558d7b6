import { describe, expect, it } from 'vitest'
import { LogFencedError, LogRefusedError, LogUnavailableError, typedError } from './log-errors.ts'

const kafkaError = (name: string, more: object = {}) => Object.assign(new Error('said Kafka'), { name }, more)

describe('errors of the log', () => {
  it('tell refusals, fences and absence apart, however deep they are wrapped', () => {
    const refused = kafkaError('KafkaJSProtocolError', { type: 'INVALID_TIMESTAMP' })
    expect(typedError(refused)).toBeInstanceOf(LogRefusedError)
    expect(typedError(refused)).toMatchObject({ reason: 'INVALID_TIMESTAMP' })
    expect(
      typedError(kafkaError('KafkaJSNonRetriableError', { cause: kafkaError('KafkaJSNumberOfRetriesExceeded', { cause: refused }) })),
    ).toBeInstanceOf(LogRefusedError)
    expect(typedError(kafkaError('KafkaJSNonRetriableError', { originalError: refused }))).toBeInstanceOf(LogRefusedError)
    expect(typedError(kafkaError('KafkaJSProtocolError', { type: 'INVALID_PRODUCER_EPOCH' }))).toBeInstanceOf(LogFencedError)
    expect(typedError(kafkaError('KafkaJSConnectionError'))).toBeInstanceOf(LogUnavailableError)
    expect(typedError(Object.assign(new Error('refused'), { syscall: 'connect' }))).toBeInstanceOf(LogUnavailableError)
  })

  it('leave errors of ours alone', () => {
    const ours = new TypeError('a bug')
    expect(typedError(ours)).toBe(ours)
    expect(typedError('text')).toBeInstanceOf(Error)
  })
})
