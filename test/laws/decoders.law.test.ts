import { isUtf8 } from 'node:buffer'
import { decodeCheckpoint, encodeCheckpoint } from '@km0/checkpoints/frame'
import {
  decodeDelta,
  decodeLiveValue,
  decodeMarkValue,
  decodePanelValue,
  decodeShuffled,
  decodeSnapshot,
  decodeSource,
  decodeStockEvent,
  encodeShuffled,
  encodeSource,
  isPosition,
  parseJsonObject,
  positionTopic,
  readPositionRecord,
} from '@km0/contracts'
import { parsePipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { createPositionsHost, createStockHost } from '@km0/pipelines'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode } from '../../apps/bridge/src/decoders/table.ts'
import { PlayClock } from '../../apps/bridge/src/play-clock.ts'
import { filterFault, parsePartitions } from '../../apps/bridge/src/share.ts'
import { readCookies } from '../../apps/dashboard/src/server/sign-in/cookies.ts'
import { decodePlace } from '../../apps/stream/src/stock-shuffle/place.ts'
import { parseLine as parseReplayLine } from '../../packages/cli/src/replay-input.ts'
import { ReplayError } from '../../packages/cli/src/replay-options.ts'
import { parseForcedFault } from '../../packages/fleet/src/faults/forced.ts'
import { parseLine as parseRecordedLine } from '../../packages/fleet/src/player/recording.ts'
import { decodeLate, decodeLive, decodeMarks, decodePanel } from '../../packages/serving/src/decode.ts'
import { readDepots, readVans } from '../../packages/serving/src/register/register-csv.ts'
import { decodeAlerts, decodeEpisodes, decodeLiveStock, decodeStockMarks } from '../../packages/serving/src/stock-decode.ts'
import { arbitraryBytes, textOf } from './arbitrary-bytes.ts'

const T0 = 1_789_380_000_000
const RUNS = { numRuns: 150, seed: 20260914 }
const POSITION = `{"repartidor":"furgoneta-3","lat":41.9794,"lon":2.8214,"data_ms":${T0}}`
const DISTANCE = `{"tipus":"distancia","repartidor":"furgoneta-3","inici_ms":${T0},"fi_ms":${T0},"distancia_mm":1,"posicions":2,"salts":0,"desplacament_mm":1}`
const SIGNAL = `{"tipus":"senyal","repartidor":"furgoneta-3","estat":"amb-senyal","des_de_ms":${T0}}`
const LIVE = `{"repartidor":"furgoneta-3","lat":41.9,"lon":2.8,"data_ms":${T0},"arribada_ms":${T0},"velocitat_mm_s":null,"rumb_graus":45,"dubtos":false,"estat":"aturada"}`
const MARK = `{"particio":3,"offset":7,"marca_aigua_ms":${T0},"progres_ms":null,"darrer_batec_ms":${T0},"darrer_registre_ms":${T0},"epoca":1}`
const ALERT = `{"producte":"p","mercat":"m","inici_ms":${T0},"fi_ms":${T0 + 300_000},"estoc_minim":3,"actualitzacions":2}`
const STOCK = `{"tipus":"estoc.actualitzat","data_ms":${T0},"dades":{"producte":"p","mercat":"m","estoc_actual":3,"delta":-1}}`
const OWNTRACKS = '{"_type":"location","lat":41.9,"lon":"2.8","tst":1532984679,"vel":50,"batt":80}'
const HFP = '{"VP":{"tst":"2026-03-02T09:00:00.000Z","tsi":1772442000,"lat":60.1,"long":24.9,"oper":18,"veh":423,"spd":3.1}}'

/** Whether bytes, taken as they come, are what `run` says; it throws where the decoder breaks its word. */
const holds = (good: readonly (string | Uint8Array)[], run: (bytes: Buffer) => void, numRuns = RUNS.numRuns) =>
  fc.assert(fc.property(arbitraryBytes(good), run), { ...RUNS, numRuns })

describe('any bytes at all', () => {
  it('are taken or refused by the bridge, on any topic', () => {
    const topics = [positionTopic('furgoneta-3'), 'km0/repartidors/nord/furgoneta-3/posicio', 'owntracks/u/d', '/hfp/v2/a/b/c/d/18/423', '']
    holds([POSITION, OWNTRACKS, HFP], (bytes) => {
      for (const topic of [...topics, textOf(bytes)]) {
        const decoded = decode(topic, bytes, false, { maxRecordBytes: 1_048_576 })
        if (decoded.kind === 'refused') expect(decoded.detail).not.toContain('decoder failed')
        else expect(JSON.parse(decoded.value.toString())).toMatchObject({ repartidor: decoded.van })
      }
    })
  })

  it('move the player’s clock to a whole time, or do not', () => {
    holds(['{"ara_ms":1789380000000}'], (bytes) => {
      const clock = new PlayClock(() => T0)
      const { kind } = clock.tick(bytes)
      expect(kind === 'moved' ? Number.isSafeInteger(clock.nowMs()) : clock.nowMs() === null).toBe(true)
    })
  })

  it('are a position, a heartbeat, settings or invalid to the stream job, and equal to what JSON.parse says', () => {
    const control = [`{"tipus":"batec","data_ms":${T0}}`, `{"tipus":"parametres","data_ms":${T0},"retard_ms":45000,"marge_ms":0}`]
    holds([POSITION, ...control], (bytes) => {
      const record = readPositionRecord(textOf(bytes), bytes.length, isUtf8(bytes), true)
      expect(['position', 'heartbeat', 'settings', 'invalid']).toContain(record.kind)
      if (record.kind !== 'position') return
      const value = parseJsonObject(textOf(bytes), bytes.length, isUtf8(bytes))
      expect(record).toMatchObject({ van: value?.repartidor, lat: value?.lat, lon: value?.lon, eventMs: value?.data_ms })
      expect(isPosition(record, true)).toBe(true)
    })
  })

  it('keep a positions host and a stock host going: the next good record counts', () => {
    holds(
      [POSITION, STOCK],
      (bytes) => {
        const positions = createPositionsHost()
        const stock = createStockHost()
        for (const host of [positions, stock]) {
          for (let offset = 0; offset < 3; offset += 1) host.onRecord(0, offset, T0, null, textOf(bytes), bytes.length, isUtf8(bytes))
          const flags = host.onRecord(0, 3, T0, null, null, 0, true)
          expect(Number.isInteger(flags)).toBe(true)
        }
        positions.drain()
        positions.onRecord(1, 0, T0, null, POSITION, POSITION.length, true)
        expect(positions.drain().map(({ key }) => key)).toContain('senyal|furgoneta-3')
        expect(positions.snapshot().length).toBeLessThan(10_000)
      },
      60,
    )
  })

  it('are a stock event with parts that fit a key, or none', () => {
    holds([STOCK], (bytes) => {
      const value = parseJsonObject(textOf(bytes), bytes.length, isUtf8(bytes))
      const event = value === null ? null : decodeStockEvent(value)
      if (event === null) return
      expect(`${event.product}|${event.market}`.split('|')).toHaveLength(2)
      expect(Number.isSafeInteger(event.stock) && Number.isSafeInteger(event.eventMs)).toBe(true)
    })
  })

  it('are values of the panel’s topics or null', () => {
    holds([DISTANCE, SIGNAL, LIVE, MARK], (bytes) => {
      for (const decodeValue of [decodePanelValue, decodeLiveValue, decodeMarkValue]) {
        const value = decodeValue(textOf(bytes))
        if (value !== null) expect(JSON.parse(textOf(bytes))).toEqual(value)
      }
    })
  })

  it('are rows for the store or refused with a reason, one after the other', () => {
    const decoders = [decodePanel, decodeLive, decodeLate, decodeMarks, decodeAlerts, decodeLiveStock, decodeEpisodes, decodeStockMarks]
    holds([DISTANCE, SIGNAL, LIVE, MARK, ALERT], (bytes) => {
      const headers = encodeSource({ epoch: 1, partition: 0, offset: 5 })
      const records = [bytes, null, bytes].map((value, offset) => ({ offset, key: 'k', value, headers }))
      for (const decodeRows of decoders) {
        const { rows, refused } = decodeRows(records)
        expect(rows.length + refused.length).toBe(2)
        for (const { reason } of refused) expect(reason.length).toBeGreaterThan(0)
      }
    })
  })
})

describe('any text in headers, names and files', () => {
  it('headers are places in the log or null', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.bigInt().map(String),
      fc.constantFrom('1e3', ' 1', '-1', '0x1', '٣', '9007199254740993'),
    )
    const names = [
      ...Object.keys(encodeSource({ epoch: 1, partition: 0, offset: 0 })),
      ...Object.keys(encodeShuffled({ sourcePartition: 0, sourceOffset: 0, arrivalMs: 0, watermarkMs: 0, number: 0, sourcePartitions: 1 })),
    ]
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), text), (headers) => {
        const source = decodeSource(headers)
        if (source !== null) expect(Object.values(source).every((n) => Number.isSafeInteger(n) && n >= 0)).toBe(true)
        const shuffled = decodeShuffled(headers)
        if (shuffled !== null) expect(Object.values(shuffled).every((n) => n === null || Number.isSafeInteger(n))).toBe(true)
      }),
      RUNS,
    )
  })

  it('a register is rows or problems with their lines', () => {
    const good = [
      'van,name,plate,depot,in_service_from\nfurgoneta-3,"F, 3",1234ABC,girona,2026-01-02\n',
      'id,name,lat,lon\ngirona,Girona,41.9,2.8\n',
    ]
    holds([...good, '\ufeffvan\r\n"a""b"\r\n'], (bytes) => {
      for (const read of [readVans, readDepots]) {
        const result = read(textOf(bytes))
        if ('problems' in result) expect(result.problems.every(({ line, problem }) => line >= 1 && problem !== '')).toBe(true)
        else expect(Array.isArray(result.rows)).toBe(true)
      }
    })
  })

  it('a settings file is settings or problems, whatever the variables are', () => {
    holds(['{ "positions": { "delayMs": 45000 } } // why', '{"stock":{"threshold":10,},}'], (bytes) => {
      for (const variables of [{}, { KM0_STOCK_THRESHOLD: textOf(bytes) }]) {
        const parsed = parsePipelineSettings(textOf(bytes), variables)
        if ('problems' in parsed) expect(parsed.problems.every(({ reason }) => reason !== '')).toBe(true)
        else expect(parsed.settings.positions.delayMs).toBeGreaterThanOrEqual(0)
      }
      if (isUtf8(bytes)) expect(({} as Record<string, unknown>).positions).toBeUndefined()
    })
  })

  it('lines of a replay and of a recording are records, or say what is wrong', () => {
    holds(['{"partition":0,"offset":1,"timestamp":2,"key":null,"value":"{}"}', `{"van":"a","lat":1,"lon":2,"event_ms":${T0}}`], (bytes) => {
      const text = textOf(bytes)
      try {
        parseReplayLine(text, 1)
      } catch (error) {
        expect(error).toBeInstanceOf(ReplayError)
      }
      expect(['string', 'object']).toContain(typeof parseRecordedLine(text))
      try {
        parseForcedFault(text)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    })
  })

  it('settings of a bridge’s share and cookies are read or refused', () => {
    holds(['km0.session_token=abc%3D; km0_wall=x', '0-2,5', 'owntracks/nord/#'], (bytes) => {
      const text = textOf(bytes)
      for (const [name, value] of readCookies(text)) expect(`${name}${value}`).not.toContain(';')
      const partitions = parsePartitions(text)
      if (partitions !== null) expect(partitions.length).toBeLessThanOrEqual(65_536)
      filterFault(text)
    })
  })
})

describe('any bytes as stored state', () => {
  const entry = { pipeline: 'positions', partition: 2, offset: 90, epoch: 1, bytes: 0 }
  const whole = encodeCheckpoint({ ...entry, snapshot: createPositionsHost().snapshot() })

  it('are the checkpoint that was written, or damaged: never another one', () => {
    holds([whole], (bytes) => {
      const decoded = decodeCheckpoint(bytes, entry)
      if ('reason' in decoded) expect(decoded.reason).not.toBe('')
      else expect(encodeCheckpoint(decoded).equals(whole)).toBe(true)
    })
  })

  it('are the place of a shuffle, or none', () => {
    holds(['{"version":1,"sources":2,"targets":2,"task":{}}'], (bytes) => {
      const place = decodePlace(textOf(bytes))
      if (place !== null) expect(place.sources).toBeGreaterThan(0)
    })
  })

  it('end a restore with an Error that says so, and leave the host as it was', () => {
    const host = createPositionsHost()
    host.onRecord(0, 0, T0, null, POSITION, POSITION.length, true)
    const before = host.snapshot()
    // Damage within the state is the checksum's to find; here the text is of something else altogether.
    const foreign = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(foreign, (text) => {
        expect(() => host.restore(text)).toThrow(Error)
        expect(host.snapshot()).toBe(before)
      }),
      RUNS,
    )
  })
})

describe('any message of the panel’s socket', () => {
  it('is a snapshot and a delta, or an Error that the page answers by asking anew', () => {
    const wire = fc.oneof(
      fc.anything(),
      fc.record({
        sequence: fc.anything(),
        distances: fc.oneof(fc.anything(), fc.array(fc.array(fc.anything(), { maxLength: 4 }), { maxLength: 3 })),
      }),
    )
    fc.assert(
      fc.property(wire, (value) => {
        for (const decodeWire of [decodeSnapshot, decodeDelta]) {
          try {
            expect(typeof decodeWire(value)).toBe('object')
          } catch (error) {
            expect(error).toBeInstanceOf(Error)
          }
        }
      }),
      RUNS,
    )
  })
})

describe('large and deep input', () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  it.each([
    ['deep objects', deep],
    ['deep arrays', '['.repeat(60_000)],
    ['a long number', `{"data_ms":${'9'.repeat(60_000)}}`],
    ['a long name', `{"repartidor":"${'x'.repeat(60_000)}","lat":1,"lon":1,"data_ms":${T0}}`],
    ['many members', `{${Array.from({ length: 5_000 }, (_, n) => `"m${n}":${n}`).join(',')}}`],
  ])('%s: quick, and refused or taken like any other', (_name, text) => {
    const bytes = Buffer.from(text)
    const beforeMs = performance.now()
    for (let run = 0; run < 5; run += 1) {
      readPositionRecord(text, bytes.length, true, true)
      decode(positionTopic('a'), bytes, false, { maxRecordBytes: 1_048_576 })
      decodePanelValue(text)
      parsePipelineSettings(text, {})
    }
    // A bound that no machine misses unless the work grows with the square of the input.
    expect(performance.now() - beforeMs).toBeLessThan(20_000)
  })
})
