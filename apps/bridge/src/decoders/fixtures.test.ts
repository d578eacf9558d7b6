import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BridgeRefusal, positionTopic } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { decode } from './table.ts'

/** Payloads as real clients send them. They stay outside the repository; without them these tests are skipped. */
const folder = join(fileURLToPath(new URL('../../../..', import.meta.url)), '..', 'shared', 'real', 'payloads')
const present = existsSync(folder)
if (!present) console.warn(`skipped: the payloads of real clients are not at ${folder}`)

interface Fixture {
  readonly id: string
  readonly topic: string | null
  readonly payload: string
  readonly expect: string
}

type Expected = BridgeRefusal | { readonly van: string; readonly value: object }

const LIMITS = { maxRecordBytes: 1_048_576 }
const position = (van: string, lat: number, lon: number, data_ms: number, further: object = {}): Expected => ({
  van,
  value: { repartidor: van, lat, lon, data_ms, ...further },
})

/** On the topic on which it was seen. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  'ot-loc-android': position('user1/phone1', 46.0681247, 11.1512805, 1551874878000, {
    velocitat_m_s: 0,
    precisio_m: 15,
    altitud_m: 440,
    bateria_pct: 46,
    format: 'owntracks',
  }),
  'ot-loc-min': position('user1/phone1', 48.85, 2.295, 1497476456000, { format: 'owntracks' }),
  'ot-loc-created_at': position('user1/22A67880-15C3-41A6-9157-25545C7993AC', 37, -122, 1736161169000, {
    precisio_m: 5,
    altitud_m: 0,
    format: 'owntracks',
  }),
  'ot-loc-tracker': position('qtripp/865284041968706', 47.420051, 13.654704, 1736519167000, {
    velocitat_m_s: 0,
    rumb_graus: 113,
    precisio_m: 10,
    altitud_m: 1113,
    format: 'owntracks',
  }),
  'ot-greenwich-strings': position('acme/van17', 48.858334, 2.295134, 1408810440000, {
    velocitat_m_s: 12.93,
    rumb_graus: 283.4,
    altitud_m: 38,
    format: 'owntracks',
  }),
  'ot-pretty': position('test2/phone2', 51.517811, -0.184072, 1641660323000, { precisio_m: 0, format: 'owntracks' }),
  'ot-greenwich-csv': 'json',
  'ot-greenwich-cmd': 'no-posicio',
  'ot-greenwich-gpio': 'no-posicio',
  'ot-greenwich-volt': 'no-posicio',
  'ot-lwt': 'no-posicio',
  'ot-lwt-notst': 'no-posicio',
  'ot-lwt-strtst': 'no-posicio',
  'ot-transition': 'no-posicio',
  'ot-waypoint': 'no-posicio',
  'ot-waypoint-enabler': 'no-posicio',
  'ot-encrypted': 'no-posicio',
  'ot-cmd': 'no-posicio',
  'ot-empty-retained': 'buit',
  'hfp-vp': position('0018/01003', 60.168786, 24.734465, 1698068562728, { velocitat_m_s: 8.49, rumb_graus: 156, format: 'hfp' }),
  'hfp-pde-late': position('0012/01825', 60.253399, 24.883218, 1709105869584, { velocitat_m_s: 5, rumb_graus: 335, format: 'hfp' }),
  'hfp-deadrun-null': position('0022/00993', 60.177769, 24.799109, 1538391274000, { velocitat_m_s: 0, rumb_graus: 165, format: 'hfp' }),
  'hfp-nogps': 'no-posicio',
  // Only its clocks give it away: both coordinates are in range.
  'hfp-doc-swapped': 'camps',
}

/** Clients without a decoder: on their own topics nobody listens; this is what becomes of the payload on a van's topic of ours. */
const ON_OUR_TOPIC: Readonly<Record<string, Expected>> = {
  'ha-json': 'camps',
  'ha-incomplete': 'camps',
  'ha-strings': 'camps',
  'ha-none': 'json',
  'meshtastic-json': 'camps',
  'meshtastic-partial': 'camps',
  teslamate: 'no-posicio',
  geojson: 'camps',
  'proprietary-ok': position('furgoneta-3', 41.9794, 2.8214, 1772355600000),
  'osmand-sec': 'buit',
  'osmand-ms': 'buit',
  'osmand-iso': 'buit',
  'osmand-local': 'buit',
  'osmand-notime': 'buit',
  'traccar-client9': 'camps',
  'traccar-forward': 'camps',
  'flespi-array': 'no-posicio',
  'flespi-float': 'no-posicio',
  'nmea-rmc': 'json',
  'nmea-rmc-zero': 'json',
  'traccar-3time-lag': 'no-posicio',
}

function outcome(topic: string, payload: string, retain = false): Expected {
  const decoded = decode(topic, Buffer.from(payload), retain, LIMITS)
  return decoded.kind === 'refused' ? decoded.reason : { van: decoded.van, value: JSON.parse(decoded.value.toString()) as object }
}

describe.skipIf(!present)('payloads of real clients', () => {
  const files = present ? ['owntracks', 'hsl-hfp', 'other-clients', 'traccar-osmand'] : []
  const fixtures = files.flatMap((name) =>
    readFileSync(join(folder, `${name}.jsonl`), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Fixture),
  )

  it.each(fixtures.map((fixture) => [fixture.id, fixture] as const))('%s', (id, { topic, payload }) => {
    const expected = EXPECTED[id]
    if (expected !== undefined) {
      expect(outcome(topic ?? '', payload)).toEqual(expected)
      return
    }
    expect(ON_OUR_TOPIC).toHaveProperty(id)
    expect(outcome(topic ?? '', payload)).toBe(payload === '' ? 'buit' : 'sense-format')
    expect(outcome(positionTopic('furgoneta-3'), payload)).toEqual(ON_OUR_TOPIC[id])
  })

  it('retained copies of positions are refused, whatever the client', () => {
    const positions = fixtures.filter(({ id }) => typeof EXPECTED[id] === 'object')
    expect(positions.length).toBeGreaterThan(8)
    for (const { topic, payload } of positions) expect(outcome(topic ?? '', payload, true)).toBe('retingut')
  })

  it('a value made from pretty-printed JSON is one line (B20)', () => {
    const pretty = fixtures.find(({ id }) => id === 'ot-pretty')
    const decoded = decode(pretty?.topic ?? '', Buffer.from(pretty?.payload ?? ''), false, LIMITS)
    expect(decoded.kind === 'accepted' && decoded.value.includes('\n')).toBe(false)
  })
})
