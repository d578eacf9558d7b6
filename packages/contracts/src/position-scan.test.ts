import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPositionRecord } from './position-record.ts'
import { scanPosition } from './position-scan.ts'

/** What JSON.parse makes of a text, in the shape that the scan returns. */
function parsed(text: string): unknown {
  const { repartidor, lat, lon, data_ms } = JSON.parse(text)
  return { kind: 'position', van: repartidor, lat, lon, eventMs: data_ms }
}

const tight = (van: string, lat: string, lon: string, time: string) =>
  `{"repartidor":${JSON.stringify(van)},"lat":${lat},"lon":${lon},"data_ms":${time}}`
const spaced = (van: string, lat: string, lon: string, time: string) =>
  `{"repartidor": ${JSON.stringify(van)}, "lat": ${lat}, "lon": ${lon}, "data_ms": ${time}}`

const digits = (min: number, max: number) => fc.array(fc.nat(9), { minLength: min, maxLength: max }).map((list) => list.join(''))
const decimal = fc
  .tuple(fc.constantFrom('', '-'), fc.nat(400), digits(0, 14))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`)

describe('scanPosition', () => {
  it('reads what vans send, in both layouts', () => {
    const want = { kind: 'position', van: 'furgoneta-3', lat: 41.9794, lon: 2.8214, eventMs: 1_789_380_000_000 }
    expect(scanPosition(tight('furgoneta-3', '41.9794', '2.8214', '1789380000000'))).toEqual(want)
    expect(scanPosition(spaced('furgoneta-3', '41.9794', '2.8214', '1789380000000'))).toEqual(want)
  })

  it('reads numbers to the last bit as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.constantFrom(tight, spaced), decimal, decimal, fc.nat(), (write, lat, lon, time) => {
        const text = write('v', lat, lon, String(time))
        const found = scanPosition(text)
        // More than 15 digits are left to JSON.parse.
        if (found !== null) expect(found).toStrictEqual(parsed(text))
        else expect(Math.max(lat.replace(/\D/g, '').length, lon.replace(/\D/g, '').length)).toBeGreaterThan(15)
      }),
      { numRuns: 3000 },
    )
  })

  it('never differs from JSON.parse, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 70 }), (van) => {
        const text = tight(van, '1.5', '-2.5', '1789380000000')
        const found = scanPosition(text)
        if (found !== null) expect(found).toStrictEqual(parsed(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('leaves any other text to JSON.parse: with one character changed, added or missing it still never differs', () => {
    const text = tight('furgoneta-3', '41.9794', '-2.8214', '1789380000000')
    fc.assert(
      fc.property(
        fc.nat(text.length),
        fc.constantFrom('', ...'0123456789.-+eE"\\{}:, xé\ud83d\u0000'),
        fc.boolean(),
        (at, unit, insert) => {
          const other = text.slice(0, at) + unit + text.slice(insert ? at : at + 1)
          const found = scanPosition(other)
          if (found !== null) expect(found).toStrictEqual(parsed(other))
        },
      ),
      { numRuns: 5000 },
    )
  })

  it.each([
    '',
    '{',
    '{}',
    '{"tipus":"batec","data_ms":1789380000000}',
    '[]',
    'null',
    '{"repartidor":"',
    '{"repartidor":""',
    '{"repartidor": "a"',
  ])('returns null for %j', (text) => {
    expect(scanPosition(text)).toBeNull()
  })

  it.each(['01', '1.', '.5', '-', '--1', '1.2.3', '+1', '1e3', '-.5', '1234567890123456'])(
    'leaves the number %s to JSON.parse',
    (number) => {
      expect(scanPosition(tight('a', number, '2', '1789380000000'))).toBeNull()
    },
  )
})

describe('readPositionRecord', () => {
  const read = (text: string | null, byteLength = text?.length ?? 0, validUtf8 = true) =>
    readPositionRecord(text, byteLength, validUtf8, true)

  it('judges a scanned position as any other', () => {
    expect(read(tight('a', '91', '2', '1789380000000')).kind).toBe('invalid')
    expect(read(tight('a', '90', '-180', '1789380000000')).kind).toBe('position')
    expect(read(tight('a', '1', '180.1', '1789380000000')).kind).toBe('invalid')
    expect(read(tight('a', '0', '-0.0', '1789380000000')).kind).toBe('invalid')
    expect(read(tight('a', '1', '2', '1789380000')).kind).toBe('invalid')
    expect(read(tight('a', '1', '2', '1789380000000'), 65_537).kind).toBe('invalid')
    expect(read(tight('a', '1', '2', '1789380000000'), 60, false).kind).toBe('invalid')
    expect(read(null).kind).toBe('invalid')
  })

  it('reads positions of any form: members in another order, more of them, escapes', () => {
    const text = '{"data_ms":1.78938e12,"x":[1],"lon":2,"lat":41,"repartidor":"\\u0061"}'
    expect(read(text)).toEqual({ kind: 'position', van: 'a', lat: 41, lon: 2, eventMs: 1_789_380_000_000 })
  })

  it('reads heartbeats and settings before it looks for a van', () => {
    expect(read('{"tipus":"batec","data_ms":1789380000000,"repartidor":"a","pont":"x"}')).toEqual({
      kind: 'heartbeat',
      eventMs: 1_789_380_000_000,
    })
    expect(read('{"tipus":"batec","data_ms":"1789380000000"}').kind).toBe('invalid')
    const settings = (delay: string, lateness: string) =>
      read(`{"tipus":"parametres","data_ms":1789380000000,"retard_ms":${delay},"marge_ms":${lateness}}`)
    expect(settings('45000', '0')).toEqual({ kind: 'settings', delayMs: 45_000, allowedLatenessMs: 0 })
    expect(settings('3600000', '3600000').kind).toBe('settings')
    for (const bad of ['-1', '3600001', '0.5', '"0"', 'null', 'true'])
      expect([settings(bad, '0').kind, settings('0', bad).kind]).toEqual(['invalid', 'invalid'])
  })

  it('takes another tipus for a position', () => {
    expect(read('{"repartidor":"a","lat":1,"lon":2,"data_ms":1789380000000,"tipus":"posicio"}').kind).toBe('position')
  })
})
