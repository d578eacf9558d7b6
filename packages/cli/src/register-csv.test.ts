import { describe, expect, it } from 'vitest'
import { madridDayStartMs } from './madrid-day.ts'
import { readDepots, readVans } from './register-csv.ts'

const problems = (parsed: ReturnType<typeof readVans> | ReturnType<typeof readDepots>) => ('problems' in parsed ? parsed.problems : [])
const rows = <Row>(parsed: { readonly rows: readonly Row[] } | object) => ('rows' in parsed ? parsed.rows : [])

describe('vans in CSV', () => {
  it('come with all columns, in any order, quoted, with a BOM and Windows line ends', () => {
    const csv =
      '\ufeffplate,van,depot,name,in_service_to,in_service_from\r\n"1234-ABC","furgoneta, 🚚",girona,"La ""petita""",2026-03-29,2026-01-01\r\n\r\n'
    expect(rows(readVans(csv))).toEqual([
      {
        line: 2,
        row: {
          van: 'furgoneta, 🚚',
          name: 'La "petita"',
          plate: '1234-ABC',
          depotId: 'girona',
          inServiceFromMs: Date.parse('2025-12-31T23:00:00Z'),
          // The last day counts whole: 23 hours, the clocks go forward.
          inServiceToMs: Date.parse('2026-03-29T22:00:00Z'),
        },
      },
    ])
  })

  it('need only their name', () => {
    const row = { van: 'a', name: 'a', plate: null, depotId: null, inServiceFromMs: null, inServiceToMs: null }
    expect(rows(readVans('van\na\n'))).toEqual([{ line: 2, row }])
  })

  it('name each line that is wrong, and column and value', () => {
    const csv = 'van,in_service_from\na,2026-02-30\n,2026-01-01\nb,soon\nc\nd,2026-01-01,more\n'
    expect(problems(readVans(csv))).toEqual([
      { line: 2, problem: 'in_service_from "2026-02-30" is not a day of the calendar' },
      { line: 3, problem: 'van "" is not 1 to 64 characters without control characters' },
      { line: 4, problem: 'in_service_from "soon" is not a date YYYY-MM-DD' },
      { line: 5, problem: '1 values instead of 2' },
      { line: 6, problem: '3 values instead of 2' },
    ])
  })

  it('end their service on the day they begin it, or later', () => {
    const csv = 'van,in_service_from,in_service_to\na,2026-05-02,2026-05-01\nb,2026-05-02,2026-05-02\n'
    expect(problems(readVans(csv))).toEqual([{ line: 2, problem: 'in_service_to "2026-05-01" is before in_service_from' }])
  })

  it.each([
    ['', 'the file is empty'],
    ['name\na\n', 'column "van" is missing'],
    ['van,colour\na,red\n', 'there is no column "colour"'],
    ['van,van\na,b\n', 'stands there twice'],
  ])('refuse a heading that does not fit: %j', (csv, expected) => {
    const [first] = problems(readVans(csv))
    expect(first?.line).toBe(1)
    expect(first?.problem).toContain(expected)
  })

  it('tell the line of a quote that is never closed', () => {
    const [first] = problems(readVans('van,name\na,b\nc,"d\n'))
    expect(first?.line).toBeGreaterThanOrEqual(3)
  })

  it('are none in a file that has only a heading', () => {
    expect(readVans('van\n')).toEqual({ rows: [] })
  })
})

describe('depots in CSV', () => {
  it('hold place, markets and shift', () => {
    const csv = 'id,name,lat,lon,markets,shift_start,shift_end\ngirona,Girona,41.98,-2.8,lleo; salt;,06:00,\n'
    expect(rows(readDepots(csv))).toEqual([
      {
        line: 2,
        row: { id: 'girona', name: 'Girona', lat: 41.98, lon: -2.8, markets: ['lleo', 'salt'], shiftStart: '06:00', shiftEnd: null },
      },
    ])
  })

  it.each([
    ['41,98', /values instead of/],
    ['"41,98"', /lat "41,98" is not a decimal number with a point/],
    ['91', /lat "91" is not within ±90/],
    ['', /lat "" is not a decimal number/],
    ['1e1', /lat "1e1"/],
  ])('refuse the latitude %s', (lat, expected) => {
    expect(problems(readDepots(`id,name,lat,lon\ng,G,${lat},2\n`))[0]?.problem).toMatch(expected)
  })

  it('refuse a time that is none', () => {
    expect(problems(readDepots('id,name,lat,lon,shift_end\ng,G,41,2,24:00\n'))[0]?.problem).toMatch(/shift_end "24:00" is not a time HH:MM/)
  })
})

describe('a day in Madrid', () => {
  it.each([
    ['2026-01-15', '2026-01-14T23:00:00Z'],
    ['2026-07-15', '2026-07-14T22:00:00Z'],
    ['2026-03-29', '2026-03-28T23:00:00Z'],
    ['2026-03-30', '2026-03-29T22:00:00Z'],
    ['2026-10-25', '2026-10-24T22:00:00Z'],
    ['2026-10-26', '2026-10-25T23:00:00Z'],
  ])('%s begins at %s', (date, start) => {
    expect(madridDayStartMs(date)).toBe(Date.parse(start))
  })

  it.each(['2026-02-29', '2026-13-01', '2026-00-10', 'x'])('is not %s', (date) => {
    expect(madridDayStartMs(date)).toBeNull()
  })
})
