import { describe, expect, it } from 'vitest'
import { recordBytes, toLogRecord, toOffset } from './log-record.ts'

const message = { attributes: 0, timestamp: '1772442000000', offset: '41', key: Buffer.from('ç'), value: Buffer.from('x') }

describe('records of the log', () => {
  it('come with numbers, text key and text headers', () => {
    const record = toLogRecord(3, { ...message, headers: { epoca: Buffer.from('1'), twice: [Buffer.from('a'), Buffer.from('b')] } })
    expect(record).toMatchObject({ partition: 3, offset: 41, timestampMs: 1_772_442_000_000, headers: { epoca: '1', twice: 'b' } })
    expect(record.key).toBe('ç')
    expect(record.value?.toString()).toBe('x')
  })

  it('may lack key, value and headers', () => {
    const record = toLogRecord(0, { ...message, key: null, value: null, headers: {} })
    expect([record.key, record.value, record.headers]).toEqual([null, null, {}])
  })

  it('have offsets that are exact', () => {
    expect(toOffset('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
    expect(() => toOffset('9007199254740992')).toThrow(RangeError)
    expect(toOffset('-1')).toBe(-1)
  })

  it('are never larger on the wire than recordBytes says', () => {
    expect(recordBytes({ topic: 't', key: 'ç🚚', value: 'é' })).toBeGreaterThanOrEqual(6 + 2 + 21)
    expect(recordBytes({ topic: 't', key: null, value: null, headers: { a: 'bc' } })).toBeGreaterThan(
      recordBytes({ topic: 't', key: null, value: null }) + 3,
    )
    expect(recordBytes({ topic: 't', key: null, value: Buffer.alloc(1000) })).toBeGreaterThanOrEqual(1000)
  })
})
