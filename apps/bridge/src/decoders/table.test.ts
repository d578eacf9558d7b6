import { encodeTopicLevel, positionTopic } from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { strictNumber } from './numbers.ts'
import { decode } from './table.ts'

const LIMITS = { maxRecordBytes: 1_048_576 }
const T0 = 1_772_442_000_000
const topic = positionTopic('furgoneta-3')
const own = (further: object = {}) => ({ repartidor: 'furgoneta-3', lat: 41.9794, lon: 2.8214, data_ms: T0, ...further })
const take = (where: string, payload: string | Buffer | object, retain = false) =>
  decode(
    where,
    Buffer.isBuffer(payload) ? payload : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
    retain,
    LIMITS,
  )
const reasonOf = (...parameters: Parameters<typeof take>) => {
  const decoded = take(...parameters)
  return decoded.kind === 'refused' ? decoded.reason : 'accepted'
}

describe('our own payload', () => {
  it('is written as it came, byte for byte (B20)', () => {
    const payload = Buffer.from('{ "lat":41.97940,\n "lon":2.8214,"data_ms":1.772442e12, "repartidor":"furgoneta-3" ,"extra":[1] }')
    const decoded = take(topic, payload)
    expect(decoded).toMatchObject({ kind: 'accepted', van: 'furgoneta-3', eventMs: T0 })
    expect(decoded.kind === 'accepted' && decoded.value.equals(payload)).toBe(true)
  })

  it.each([
    ['seconds for milliseconds (B01)', { data_ms: 1557989535 }],
    ['seconds divided by a thousand (B02)', { data_ms: 1544357 }],
    ['ISO text for a number (B03)', { data_ms: '2009-02-15T00:13:47.050Z' }],
    ['334 days ahead (B04)', { data_ms: T0 + 334 * 86_400_000 }],
    ['eight years ahead (B05)', { data_ms: T0 + 8 * 365 * 86_400_000 }],
    ['GPS week rollover (B06)', { data_ms: T0 - 619_315_200_000 }],
    ['GPS week rollover on a clock 5 s ahead (B07)', { data_ms: T0 - 619_315_200_000 + 5_000 }],
    ['0,0 (B09, B10)', { lat: 0, lon: 0 }],
    ['latitude 300.1 (B11)', { lat: 300.1, lon: 41.9 }],
    ['longitude beyond 180 (B11)', { lon: -180.0001 }],
    ['degrees without their decimal point (B12)', { lat: 41979400, lon: 2821400 }],
    ['quoted numbers (B13)', { lat: '41.9794', lon: '2.8214' }],
    ['null for a latitude (B14)', { lat: null }],
    ['a list for a latitude (B14)', { lat: [41.9] }],
    ['true for a latitude (B14)', { lat: true }],
    ['no latitude (B14)', { lat: undefined }],
    ['latitude and longitude swapped (B41)', { lat: 2.8214, lon: 41.9794 }],
  ])('%s passes: ranges, types and clocks are the stream job’s to judge', (_name, further) => {
    expect(reasonOf(topic, own(further))).toBe('accepted')
  })

  it.each([
    ['a decimal comma (B16)', '{"longitude":12,05197,"latitude":57,752934}'],
    ['text', 'Online'],
    ['a BOM', '\uFEFF{"repartidor":"furgoneta-3"}'],
    ['JSON cut short', '{"repartidor":"furgoneta-3","lat":41.97,"lon":2.8,"da'],
  ])('%s is no JSON', (_name, payload) => {
    expect(reasonOf(topic, payload)).toBe('json')
  })

  it.each([
    ['two bytes that begin nothing (B17)', Buffer.from([0xfc, 0x7e, 0x29])],
    ['JSON cut in the middle of a character (B18)', Buffer.concat([Buffer.from('{"repartidor":"furgoneta-3","da'), Buffer.from([0xff])])],
    ['an overlong slash', Buffer.from([0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ])('%s is not UTF-8', (_name, payload) => {
    expect(reasonOf(topic, payload)).toBe('utf8')
  })

  it.each(['0', '4.4', 'null', '[]', '"text"', 'true'])('the JSON value %s is no position', (payload) => {
    expect(reasonOf(topic, payload)).toBe('no-posicio')
  })

  it.each(['van_#2', 'SHSW-1#11490B#1', 'a/b', '+1', 'furgoneta 🚚', 'x'.repeat(300), 'ç\u0301', '100%', '..', '$SYS'])(
    'the id %s is text and nothing else (B23)',
    (van) => {
      expect(take(positionTopic(van), own({ repartidor: van }))).toMatchObject({ kind: 'accepted', van })
    },
  )

  it('refuses a van that is not the one of the topic, and topics that are no percent-encoding', () => {
    expect(reasonOf(topic, own({ repartidor: 'furgoneta-4' }))).toBe('identitat')
    expect(reasonOf('km0/repartidors/nord/furgoneta-3/posicio', own())).toBe('accepted')
    expect(reasonOf('km0/repartidors/furgoneta-3/furgoneta-4/posicio', own())).toBe('identitat')
    expect(reasonOf('km0/repartidors/a/b/furgoneta-3/posicio', own())).toBe('no-posicio')
    expect(reasonOf('km0/repartidors/%zz/posicio', own({ repartidor: '%zz' }))).toBe('identitat')
    expect(reasonOf(topic, '{"repartidor":"\\ud800","lat":1,"lon":1,"data_ms":1}')).toBe('identitat')
  })

  it('refuses what names no van', () => {
    expect(reasonOf(topic, own({ repartidor: undefined }))).toBe('camps')
    expect(reasonOf(topic, own({ repartidor: 17 }))).toBe('camps')
    expect(reasonOf('km0/repartidors//posicio', own({ repartidor: '' }))).toBe('camps')
  })

  it('lets no van speak for the bridge', () => {
    expect(reasonOf(topic, own({ tipus: 'batec' }))).toBe('no-posicio')
    expect(reasonOf(topic, own({ tipus: 'parametres', retard_ms: 0, marge_ms: 0 }))).toBe('no-posicio')
    expect(reasonOf(topic, '{"tipus":"posicio","repartidor":"furgoneta-3","tipus":"batec"}')).toBe('no-posicio')
    expect(reasonOf(topic, own({ tipus: 'posicio' }))).toBe('accepted')
  })

  it('refuses nothing because of a long silence before it (B10): decoding has no memory', () => {
    expect(take(topic, own())).toEqual(take(topic, own()))
  })

  it.each([
    ['two megabytes (B21)', own({ extra: 'x'.repeat(2_000_000) }), 'massa-gran'],
    ['100 KB, which the log takes and the stream job refuses', own({ extra: 'x'.repeat(100_000) }), 'accepted'],
    ['a byte less than the log takes', own({ extra: 'x'.repeat(1_048_000) }), 'massa-gran'],
  ])('%s', (_name, payload, reason) => {
    expect(reasonOf(topic, payload)).toBe(reason)
  })
})

describe('what is no message of a van', () => {
  it('an empty payload clears a retained message (B27)', () => {
    expect(reasonOf(topic, '', true)).toBe('buit')
    expect(reasonOf(topic, '')).toBe('buit')
  })

  it('a retained copy is old news (B25, B28)', () => {
    expect(reasonOf(topic, own(), true)).toBe('retingut')
    expect(reasonOf(topic, 'offline', true)).toBe('retingut')
  })

  it('wills, also six in an hour, are no position (B29)', () => {
    for (let minute = 0; minute < 66; minute += 11) {
      expect(reasonOf('owntracks/user1/phone1', { _type: 'lwt', tst: 1459198293 + minute * 60 })).toBe('no-posicio')
    }
  })

  it('saved places are no position (B30)', () => {
    expect(reasonOf('owntracks/u/d', { _type: 'waypoint', lat: 41.9, lon: 2.8, tst: 1532984679 })).toBe('no-posicio')
  })

  it.each([
    ['repartiment/furgoneta-3/LWT', 'sense-format'],
    ['repartimentfurgoneta-3', 'sense-format'],
    ['owntracks/UserDeviceID', 'no-posicio'],
    ['owntracks//device', 'no-posicio'],
    ['km0/repartidors/furgoneta-3/LWT', 'no-posicio'],
    ['km0/rellotge', 'sense-format'],
    ['/hfp/v3/a/b/c/d/e/f/g', 'no-posicio'],
    ['/hfp/v2/journey/ongoing/vp/bus//01003', 'no-posicio'],
    ['', 'sense-format'],
  ])('topic %s (B19, B24): %s', (where, reason) => {
    expect(reasonOf(where, 'Online')).toBe(reason)
  })
})

describe('conversions', () => {
  it('OwnTracks: a fraction of a second is kept, an impossible number is not', () => {
    const location = { _type: 'location', lat: 41.9, lon: 2.8, tst: 1508508510.013227 }
    expect(take('owntracks/u/d', location)).toMatchObject({ eventMs: 1508508510013 })
    expect(reasonOf('owntracks/u/d', '{"_type":"location","lat":1e999,"lon":2.8,"tst":1}')).toBe('camps')
    expect(reasonOf('owntracks/u/d', { ...location, lat: '41,9' })).toBe('camps')
    expect(reasonOf('owntracks/u/d', { ...location, lat: null })).toBe('camps')
    expect(reasonOf('owntracks/u/d', { ...location, _type: 'encrypted' })).toBe('no-posicio')
  })

  it('HFP: times that are no times, several events and clocks that disagree', () => {
    const where = '/hfp/v2/journey/ongoing/vp/bus/0018/01003/5520'
    const event = { tst: '2023-10-23T13:42:42.728Z', tsi: 1698068562, lat: 60.1, long: 24.7 }
    expect(take(where, { VP: event })).toMatchObject({ van: '0018/01003', eventMs: 1698068562728 })
    expect(reasonOf(where, { VP: { ...event, tst: '2023-10-23 13:42:42' } })).toBe('camps')
    expect(reasonOf(where, { VP: { ...event, tst: '2023-13-45T13:42:42Z' } })).toBe('camps')
    expect(reasonOf(where, { VP: { ...event, tsi: 1416308975 } })).toBe('camps')
    expect(reasonOf(where, { VP: { ...event, tsi: undefined } })).toBe('accepted')
    expect(reasonOf(where, { VP: event, DUE: event })).toBe('no-posicio')
    expect(reasonOf(where, { VP: null })).toBe('no-posicio')
    expect(reasonOf(where, {})).toBe('no-posicio')
  })

  it.each([
    ['41.9794', 41.9794],
    ['-0', -0],
    [7, 7],
    ['+1', null],
    ['1e3', null],
    ['0x10', null],
    [' 1', null],
    ['', null],
    ['1.', null],
    ['NaN', null],
    [true, null],
    [Number.POSITIVE_INFINITY, null],
  ])('strict numeric text: %j is %j', (value, number) => {
    expect(strictNumber(value)).toBe(number)
  })
})

describe('any bytes on any topic', () => {
  const topics = ['km0/repartidors/a/posicio', 'owntracks/a/b', '/hfp/v2/a/b/c/d/e/f', 'x']

  it('never throw', () => {
    fc.assert(
      fc.property(fc.constantFrom(...topics), fc.uint8Array({ maxLength: 300 }), fc.boolean(), (where, bytes, retain) => {
        expect(['accepted', 'refused']).toContain(decode(where, Buffer.from(bytes), retain, LIMITS).kind)
      }),
    )
  })

  it('never throw as JSON either, and what is accepted can be attributed', () => {
    const members = fc.constantFrom('repartidor', 'lat', 'lon', 'tst', 'tsi', 'long', '_type', 'tipus', 'VP', '__proto__', 'toString')
    const message = fc.dictionary(members, fc.jsonValue())
    fc.assert(
      fc.property(fc.constantFrom(...topics), fc.oneof(message, fc.record({ VP: message })), (where, value) => {
        const decoded = take(where, value)
        if (decoded.kind === 'refused') expect(decoded.detail).not.toContain('decoder failed')
        else expect(JSON.parse(decoded.value.toString())).toMatchObject({ repartidor: decoded.van })
      }),
    )
  })

  it('every well-formed name comes through its own topic', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), (van) => {
        expect(encodeTopicLevel(van)).not.toMatch(/[/+#]/)
        expect(take(positionTopic(van), own({ repartidor: van }))).toMatchObject({ kind: 'accepted', van })
      }),
    )
  })

  it('deeply nested JSON does not end the process', () => {
    expect(reasonOf(topic, `${'['.repeat(400_000)}${']'.repeat(400_000)}`)).toMatch(/^(no-posicio|json|camps)$/)
  })
})
