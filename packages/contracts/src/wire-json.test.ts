import { describe, expect, it } from 'vitest'
import { isEventMs, isName, MAX_VALUE_BYTES, parseJsonObject } from './wire-json.ts'

const parse = (text: string) => parseJsonObject(text, Buffer.byteLength(text), true)

describe('a value of the log', () => {
  it('is a JSON object, as JSON.parse reads it', () => {
    expect(parse(' {"a":1,"a":2}\r\n')).toEqual({ a: 2 })
    expect(parse('{"__proto__":{"repartidor":"x"}}')?.repartidor).toBeUndefined()
  })

  it.each(['', '{', 'null', '[]', '7', '"x"', 'NaN', '{"a":1,}', "{'a':1}", '\ufeff{}', '{"a":NaN}', '{"a":"\n"}'])(
    '%j is none',
    (text) => {
      expect(parse(text)).toBeNull()
    },
  )

  it('is none when there is no value, or its bytes were not UTF-8', () => {
    expect(parseJsonObject(null, 0, true)).toBeNull()
    expect(parseJsonObject('{}', 2, false)).toBeNull()
  })

  it('has at most 65,536 bytes', () => {
    expect(parseJsonObject('{}', MAX_VALUE_BYTES, true)).toEqual({})
    expect(parseJsonObject('{}', MAX_VALUE_BYTES + 1, true)).toBeNull()
  })

  it('may nest as deep as its length allows', () => {
    expect(parse(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).not.toBeNull()
  })
})

describe('a name', () => {
  it.each(['a', 'v'.repeat(64), 'dièsel|ñ', '\u{1f69a}', '\uffee', 'a\u2028b', ' ', '\u007f', '\u{10ffff}'])('may be %j', (name) => {
    expect(isName(name)).toBe(true)
  })

  it.each([
    '',
    'v'.repeat(65),
    'a\u0000',
    '\u001f',
    '\n',
    '\ud800',
    'a\ud83d',
    '\udc00a',
    '\ud83d\ud83d\ude9a',
    `${'v'.repeat(63)}\u{1f69a}`,
  ])('is not %j', (name) => {
    expect(isName(name)).toBe(false)
  })

  it.each([null, undefined, 7, true, {}, ['a']])('is not %j', (value) => {
    expect(isName(value)).toBe(false)
  })
})

describe('an event time', () => {
  it('is an integer in [2000, 2100)', () => {
    expect([946_684_800_000, 4_102_444_799_999, 1.78938e12].map(isEventMs)).toEqual([true, true, true])
    expect([946_684_799_999, 4_102_444_800_000, 1_789_380_000, 1_789_380_000_000.5].map(isEventMs)).toEqual([false, false, false, false])
    expect([Number.NaN, Number.POSITIVE_INFINITY, '1789380000000', null, undefined, true].some(isEventMs)).toBe(false)
  })
})
