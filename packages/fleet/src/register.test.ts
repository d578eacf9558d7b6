import { expect, it } from 'vitest'
import { depotsCsv, vansCsv } from './register.ts'

it('lists every van with a depot that is listed too', () => {
  const vans = vansCsv(140).trim().split('\n')
  expect(vans[0]).toBe('van,name,plate,depot,in_service_from,in_service_to')
  expect(vans.length).toBe(141)
  const depots = depotsCsv('always').trim().split('\n')
  expect(depots[0]).toBe('id,name,lat,lon,markets,shift_start,shift_end')
  const ids = new Set(depots.slice(1).map((line) => line.split(',')[0]))
  for (const van of vans.slice(1)) expect(ids.has(van.split(',')[3])).toBe(true)
})

it('gives shifts with realistic hours only: the demo never rests', () => {
  expect(
    depotsCsv('always')
      .trim()
      .split('\n')
      .slice(1)
      .every((line) => line.endsWith(',,')),
  ).toBe(true)
  expect(depotsCsv('madrid')).toContain('girona;salt;banyoles,06:30,21:30')
})
