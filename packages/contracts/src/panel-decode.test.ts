import { describe, expect, test } from 'vitest'
import { decodeLiveValue, decodeMarkValue, decodePanelValue } from './panel-decode.ts'

const distance = {
  tipus: 'distancia',
  repartidor: 'furgoneta-3',
  inici_ms: 0,
  fi_ms: 300_000,
  distancia_mm: 1,
  posicions: 2,
  salts: 0,
  desplacament_mm: 1,
}
const signal = { tipus: 'senyal', repartidor: 'furgoneta-3', estat: 'sense-senyal', des_de_ms: 5 }
const live = {
  repartidor: 'furgoneta-3',
  lat: 41.98,
  lon: 2.82,
  data_ms: 10,
  arribada_ms: 11,
  velocitat_mm_s: 8_000,
  rumb_graus: 90,
  dubtos: false,
  estat: 'en-moviment',
}
const mark = { particio: 0, offset: 12, marca_aigua_ms: null, progres_ms: 1, darrer_batec_ms: null, darrer_registre_ms: 3, epoca: 1 }
const outage = { tipus: 'tall', particio: 2, inici_ms: 1, fi_ms: 90_000, causa: 'pont', epoca: 1, offset: 9 }
const text = JSON.stringify

describe('decoders of what the panel reads', () => {
  test('good values come back', () => {
    expect(decodePanelValue(text(distance))).toEqual(distance)
    expect(decodePanelValue(text({ ...distance, revisio: 2 }))).toEqual({ ...distance, revisio: 2 })
    expect(decodePanelValue(text(signal))).toEqual(signal)
    expect(decodeLiveValue(text(live))).toEqual(live)
    expect(decodeLiveValue(text({ ...live, velocitat_mm_s: null, rumb_graus: null }))).not.toBeNull()
    expect(decodeMarkValue(text(mark))).toEqual(mark)
    expect(decodeMarkValue(text(outage))).toEqual(outage)
    expect(decodeMarkValue(text({ ...outage, causa: null }))).not.toBeNull()
  })

  test.each(['', 'null', '[]', '7', '{', '"x"', '{}'])('%s is no value', (bad) => {
    expect(decodePanelValue(bad)).toBeNull()
    expect(decodeLiveValue(bad)).toBeNull()
    expect(decodeMarkValue(bad)).toBeNull()
  })

  test('sessions and unknown kinds are skipped', () => {
    expect(decodePanelValue(text({ tipus: 'sessio', repartidor: 'a', inici_ms: 1, fi_ms: 2, posicions: 3 }))).toBeNull()
    expect(decodePanelValue(text({ ...signal, tipus: 'altre' }))).toBeNull()
  })

  test('a member that is missing or of another type is refused', () => {
    for (const name of Object.keys(distance)) expect(decodePanelValue(text({ ...distance, [name]: undefined }))).toBeNull()
    for (const name of Object.keys(signal)) expect(decodePanelValue(text({ ...signal, [name]: undefined }))).toBeNull()
    for (const name of Object.keys(live)) expect(decodeLiveValue(text({ ...live, [name]: undefined }))).toBeNull()
    for (const name of Object.keys(mark)) expect(decodeMarkValue(text({ ...mark, [name]: undefined }))).toBeNull()
    for (const name of Object.keys(outage).slice(1)) expect(decodeMarkValue(text({ ...outage, [name]: undefined }))).toBeNull()
    expect(decodeMarkValue(text({ ...outage, causa: 'gos' }))).toBeNull()
    expect(decodeLiveValue(text({ ...live, lat: 90.1 }))).toBeNull()
    expect(decodeLiveValue(text({ ...live, lon: '2' }))).toBeNull()
    expect(decodeMarkValue(text({ ...mark, offset: -1 }))).toBeNull()
    expect(decodePanelValue(text({ ...distance, revisio: 'x' }))).toBeNull()
  })
})
