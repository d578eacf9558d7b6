import { ReplayError } from './replay-options.ts'

/** One record of a log, as the replay command reads it. */
export interface LogLine {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly key: string | null
  readonly text: string | null
}

const LONGEST_LINE = 16 * 1024 * 1024

/** Lines of a stream of UTF-8 text, without their end. A BOM is kept. Throws a ReplayError for a line that has no end in sight. */
export async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let rest = ''
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE) throw new ReplayError(`a line is longer than ${LONGEST_LINE} characters: is this a log as JSON lines?`)
    yield lines
  }
  rest += decoder.decode()
  if (rest !== '') yield [rest]
}

/** The record in a line; null for an empty line. Throws a ReplayError that names line `number`. */
export function parseLine(line: string, number: number): LogLine | null {
  if (line.trim() === '') return null
  const wrong = (what: string) => new ReplayError(`line ${number}: ${what}`)
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch (error) {
    throw wrong(`not JSON: ${(error as Error).message}`)
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) throw wrong('not an object')
  const { partition, offset, timestamp, key = null, value } = record as Record<string, unknown>
  if (!isCount(partition)) throw wrong(`partition must be a whole number of 0 or more, not ${JSON.stringify(partition)}`)
  if (!isCount(offset)) throw wrong(`offset must be a whole number of 0 or more, not ${JSON.stringify(offset)}`)
  if (!Number.isSafeInteger(timestamp)) throw wrong(`timestamp must be a whole number of milliseconds, not ${JSON.stringify(timestamp)}`)
  if (key !== null && typeof key !== 'string') throw wrong('key must be text or null')
  if (value !== null && typeof value !== 'string') throw wrong('value must be text (the JSON of the record, as text) or null')
  return { partition, offset, timestampMs: timestamp as number, key, text: value }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
