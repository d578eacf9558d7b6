import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { withoutPasswords } from './errors.ts'
import type { LakeRecord } from './record.ts'
import { rowMaker } from './rows.ts'
import { seamOf } from './status.ts'
import { DEAD_LETTERS, LATE_POSITIONS, type LakeTable, type LakeValue, POSITIONS, STOCK_EVENTS } from './tables.ts'

const ARRIVAL_MS = 1_789_380_005_000

function record(value: string | Buffer | null, changes: Partial<LakeRecord> = {}): LakeRecord {
  return {
    partition: 2,
    offset: 17,
    timestampMs: ARRIVAL_MS,
    key: 'furgoneta-3',
    value: typeof value === 'string' ? Buffer.from(value) : value,
    headers: {},
    ...changes,
  }
}

/** The row as an object; null when the lake does not keep the record. */
function rowOf(table: LakeTable, from: LakeRecord): Record<string, LakeValue> | null {
  const row = rowMaker(table, 1, DEFAULT_POSITIONS_SETTINGS).row(from)
  return row && Object.fromEntries(table.columns.map(({ name }, index) => [name, row[index] ?? null]))
}

describe('positions', () => {
  const usual = '{"repartidor":"furgoneta-3","lat":41.9794,"lon":2.8214,"data_ms":1789380000000}'

  it('keeps a position in its usual form as columns alone', () => {
    expect(rowOf(POSITIONS, record(usual))).toEqual({
      epoch: 1,
      kafka_partition: 2,
      kafka_offset: 17,
      arrival_ms: ARRIVAL_MS,
      key: 'furgoneta-3',
      headers: null,
      value: null,
      event_day: 20_710,
      kind: 'position',
      van: 'furgoneta-3',
      event_ms: 1_789_380_000_000,
      lat: 41.9794,
      lon: 2.8214,
    })
  })

  it.each([
    ['a member that this version does not know', usual.replace('}', ',"bateria":71}')],
    ['other spacing', usual.replace(',', ', ')],
    ['a number written otherwise', usual.replace('1789380000000', '1.78938e12')],
    ['minus zero', usual.replace('2.8214', '-0')],
    ['a member twice', usual.replace('}', ',"lat":40}')],
  ])('keeps the value whole with %s', (_what, text) => {
    expect(rowOf(POSITIONS, record(text))?.value).toBe(text)
  })

  it('keeps heartbeats, off the clock too, and settings', () => {
    const beat = '{"tipus":"batec","data_ms":946684800000,"pont":"a"}'
    expect(rowOf(POSITIONS, record(beat))).toMatchObject({ kind: 'heartbeat', event_ms: 946_684_800_000, van: null, value: beat })
    const settings = '{"tipus":"parametres","data_ms":1789380000000,"retard_ms":45000,"marge_ms":0}'
    expect(rowOf(POSITIONS, record(settings))).toMatchObject({ kind: 'settings', value: settings })
  })

  it('keeps headers', () => {
    expect(rowOf(POSITIONS, record(usual, { headers: { reparat: 'Anna' } }))?.headers).toBe('{"reparat":"Anna"}')
  })

  it.each([
    ['no value', null],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['broken JSON', '{'],
    ['null island', usual.replace('41.9794', '0').replace('2.8214', '0')],
    ['a time in the future', usual.replace('1789380000000', String(ARRIVAL_MS + 60_001))],
    ['a time more than seven days old', usual.replace('1789380000000', String(ARRIVAL_MS - 604_800_001))],
    ['a heartbeat without time', '{"tipus":"batec"}'],
    ['settings out of range', '{"tipus":"parametres","data_ms":1789380000000,"retard_ms":-1,"marge_ms":0}'],
  ])('leaves out %s', (_what, value) => {
    expect(rowOf(POSITIONS, record(value))).toBeNull()
  })

  it('takes both ends of what is on the clock', () => {
    for (const eventMs of [ARRIVAL_MS + 60_000, ARRIVAL_MS - 604_800_000])
      expect(rowOf(POSITIONS, record(usual.replace('1789380000000', String(eventMs))))?.event_ms).toBe(eventMs)
  })
})

describe('stock events', () => {
  const event =
    '{"tipus":"estoc.actualitzat","id":"e1","data_ms":1789380000000,"dades":{"producte":"pa","mercat":"girona","estoc_actual":4,"delta":-1}}'

  it('keeps an event with its value whole', () => {
    expect(rowOf(STOCK_EVENTS, record(event))).toMatchObject({
      kind: 'event',
      product: 'pa',
      market: 'girona',
      stock: 4,
      event_id: 'e1',
      value: event,
    })
  })

  it('leaves out other kinds and what section 6 refuses', () => {
    expect(rowOf(STOCK_EVENTS, record(event.replace('estoc.actualitzat', 'comanda.creada')))).toBeNull()
    expect(rowOf(STOCK_EVENTS, record(event.replace('girona', 'gi|rona')))).toBeNull()
  })
})

describe('late points and dead letters', () => {
  const headers = { epoca: '1', particio_origen: '4', offset_origen: '99' }

  it('knows the source of a late point, and files it under its event day', () => {
    const late = '{"motiu":"tard","data_ms":1789293600000,"finestres_tancades":5}'
    expect(rowOf(LATE_POSITIONS, record(late, { headers }))).toMatchObject({
      reason: 'tard',
      event_ms: 1_789_293_600_000,
      event_day: 20_709,
      source_partition: 4,
      source_offset: 99,
    })
  })

  it('files a dead letter under the day of its arrival, whatever it holds', () => {
    const future = '{"motiu":"futur","data_ms":4000000000000}'
    expect(rowOf(DEAD_LETTERS, record(future, { key: null }))).toMatchObject({
      reason: 'futur',
      event_ms: 4_000_000_000_000,
      event_day: 20_710,
    })
    expect(rowOf(DEAD_LETTERS, record('not json'))).toMatchObject({ reason: null, event_ms: null, value: 'not json' })
    expect(rowOf(DEAD_LETTERS, record(null))).toMatchObject({ reason: null, value: null })
  })
})

describe('the seam with the log', () => {
  it.each([
    [0, 0, 0, 'closed'],
    [5, 3, 9, 'closed'],
    [3, 3, 9, 'closed'],
    [9, 3, 9, 'closed'],
    [2, 3, 9, 'open'],
    [10, 3, 9, 'ahead'],
  ])('lake at %i, log from %i to %i: %s', (lakeNext, logStart, logEnd, state) => {
    expect(seamOf(POSITIONS, 0, lakeNext, logStart, logEnd).state).toBe(state)
  })
})

describe('errors', () => {
  it('show no password', () => {
    expect(withoutPasswords('ATTACH postgres://km0:s3cr3t@127.0.0.1:5432/km0 password=hunter2 x')).toBe(
      'ATTACH postgres://km0:***@127.0.0.1:5432/km0 password=*** x',
    )
  })
})
