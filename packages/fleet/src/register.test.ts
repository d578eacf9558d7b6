import { expect, it } from 'vitest'
import { registerCsv } from './register.ts'

const lines = (which: Parameters<typeof registerCsv>[0], hours: 'always' | 'madrid' = 'always') =>
  registerCsv(which, 140, hours).trim().split('\n')
const first = (line: string) => line.split(',')[0]

it('lists every van with a depot that is listed too; those in reserve are registered and not driven', () => {
  const vans = lines('vans')
  expect(vans[0]).toBe('van,name,plate,depot,in_service_from,in_service_to')
  expect(vans.filter((line) => line.startsWith('furgoneta-'))).toHaveLength(140)
  expect(vans.filter((line) => line.startsWith('reserva-'))).toHaveLength(9)
  expect(vans.at(-1)).toMatch(/,2026-06-30$/)
  const depots = lines('depots')
  expect(depots[0]).toBe('id,name,lat,lon,markets,shift_start,shift_end')
  const ids = new Set(depots.slice(1).map(first))
  for (const van of vans.slice(1)) expect(ids.has(van.split(',')[3])).toBe(true)
  for (const shift of lines('shifts').slice(1)) expect(ids.has(first(shift))).toBe(true)
})

it('gives daily shifts with realistic hours only: the demo never rests', () => {
  expect(
    lines('depots')
      .slice(1)
      .every((line) => line.endsWith(',,')),
  ).toBe(true)
  expect(lines('depots', 'madrid').join()).toContain('girona;salt;banyoles,06:30,21:30')
  expect(lines('shifts')).toContain('girona,mon-sun,00:00,00:00')
  expect(lines('shifts', 'madrid')).toEqual(expect.arrayContaining(['girona,mon-sat,06:30,21:30', 'girona,sun,,', 'reserva,mon-sun,,']))
})

it('gives each market of a depot a zone that closes', () => {
  const markets = lines('markets').slice(1)
  expect(markets.map(first)).toEqual(
    lines('depots')
      .flatMap((line) => line.split(',')[4]?.split(';').filter(Boolean) ?? [])
      .filter((one) => one !== 'markets'),
  )
  for (const line of markets) {
    const zone = JSON.parse(line.slice(line.indexOf('"') + 1, -1).replaceAll('""', '"')) as { coordinates: [number, number][][] }
    expect(zone.coordinates[0]?.at(-1)).toEqual(zone.coordinates[0]?.[0])
  }
})
