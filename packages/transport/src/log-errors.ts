/** The log cannot be reached or does not answer for now. The same call again may succeed. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError'
}

/** The broker refuses these records for good: the same call again fails again. `reason` is Kafka's name of the error. */
export class LogRefusedError extends Error {
  override readonly name = 'LogRefusedError'
  readonly reason: string
  constructor(message: string, reason: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A record is larger than its topic takes. Nothing of the call was sent. */
export class RecordTooLargeError extends Error {
  override readonly name = 'RecordTooLargeError'
  /** Index in the array that was given to `send`. */
  readonly index: number
  readonly bytes: number
  readonly limitBytes: number
  constructor(topic: string, index: number, bytes: number, limitBytes: number) {
    super(`record ${index} for ${topic} takes ${bytes} bytes, the limit is ${limitBytes}`)
    this.index = index
    this.bytes = bytes
    this.limitBytes = limitBytes
  }
}

/** Another producer with the same transactional id has taken over: this one must stop writing. */
export class LogFencedError extends Error {
  override readonly name = 'LogFencedError'
}

const REFUSED = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TIMESTAMP',
  'INVALID_RECORD',
  'CORRUPT_MESSAGE',
  'INVALID_TOPIC_EXCEPTION',
  'TOPIC_AUTHORIZATION_FAILED',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
])
const FENCED = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED'])

/** A typed error for what kafkajs threw. Errors that are not of the log pass unchanged. */
export function typedError(error: unknown): Error {
  const type = kafkaType(error)
  const message = error instanceof Error ? error.message : String(error)
  if (type !== null && REFUSED.has(type)) return new LogRefusedError(message, type, { cause: error })
  if (type !== null && FENCED.has(type)) return new LogFencedError(message, { cause: error })
  if (isKafkaError(error)) return new LogUnavailableError(message, { cause: error })
  return error instanceof Error ? error : new Error(message)
}

/** Whether kafkajs threw it (it names its errors so), or the socket below it. */
export function isKafkaError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name.startsWith('KafkaJS') || 'syscall' in error
}

/** Kafka's name of the protocol error at the bottom of a chain of causes; null when there is none. */
export function kafkaType(error: unknown): string | null {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 10; current = current.cause, depth += 1) {
    if ('type' in current && typeof current.type === 'string' && current.type !== '') return current.type
    // kafkajs names the original of an exhausted retry so.
    if ('originalError' in current && current.originalError instanceof Error) {
      const inner = kafkaType(current.originalError)
      if (inner !== null) return inner
    }
  }
  return null
}
