import { describe, expect, it } from 'vitest'
import { readDepots, readMarkets, readShifts, readVans } from './register-csv.ts'
import { registerCsv } from './register-export.ts'

const problems = (parsed: ReturnType<typeof readVans | typeof readDepots | typeof readMarkets | typeof readShifts>) =>
  'problems' in parsed ? parsed.problems : []
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

  it('hold no control characters', () => {
    expect(
      problems(readVans('van,name,plate\na,A\u0000,\nb,B,\u0007\n')).map(({ line, problem }) => [
        line,
        problem.includes('has control characters'),
      ]),
    ).toEqual([
      [2, true],
      [3, true],
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

describe('markets in CSV', () => {
  const square = '[[[2,41],[3,41],[3,42],[2,41]]]'
  const cell = (json: string) => `"${json.replaceAll('"', '""')}"`
  it('take a zone as a geometry, a feature or a collection, or none', () => {
    const polygon = `{"type":"Polygon","coordinates":${square}}`
    const feature = `{"type":"Feature","properties":{},"geometry":${polygon}}`
    const csv = `id,name,zone\na,A,\nb,B,${cell(polygon)}\nc,C,${cell(feature)}\nd,D,${cell(`{"type":"FeatureCollection","features":[${feature},${feature}]}`)}\n`
    const read = rows(readMarkets(csv)) as readonly { readonly row: { readonly zone: { readonly type: string } | null } }[]
    expect(read.map(({ row }) => row.zone?.type ?? null)).toEqual([null, 'Polygon', 'Polygon', 'MultiPolygon'])
  })

  it.each([
    ['{', /is not JSON/],
    ['{"type":"Point","coordinates":[2,41]}', /is not GeoJSON of a Polygon/],
    ['{"type":"Polygon","coordinates":[[[2,41],[3,41],[3,42],[2.1,41]]]}', /is not GeoJSON/],
    ['{"type":"Polygon","coordinates":[[[41,98],[3,41],[3,42],[41,98]]]}', /is not GeoJSON/],
  ])('refuse the zone %s', (zone, expected) => {
    expect(problems(readMarkets(`id,name,zone\na,A,${cell(zone)}\n`))).toMatchObject([
      { line: 2, problem: expect.stringMatching(expected) },
    ])
  })
})

describe('shifts in CSV', () => {
  it('are of a weekday, of several, or of a date; without hours a day off', () => {
    const csv = 'depot,day,start,end\ng,mon-wed,06:30,21:30\ng,sat,22:00,06:00\ng,2026-12-25,,\n'
    expect(
      (rows(readShifts(csv)) as readonly { readonly line: number; readonly row: object }[]).map(({ line, row }) => [
        line,
        ...Object.values(row),
      ]),
    ).toEqual([
      [2, 'g', 'mon', '06:30', '21:30'],
      [2, 'g', 'tue', '06:30', '21:30'],
      [2, 'g', 'wed', '06:30', '21:30'],
      [3, 'g', 'sat', '22:00', '06:00'],
      [4, 'g', '2026-12-25', null, null],
    ])
  })

  it.each([
    ['g,funday,06:00,14:00', /day "funday" is neither mon/],
    ['g,fri-mon,06:00,14:00', /day "fri-mon" is neither/],
    ['g,2026-02-30,06:00,14:00', /day "2026-02-30" is neither/],
    ['g,mon,06:00,', /needs a start, and a start an end/],
    ['g,mon,6:00,14:00', /start "6:00" is not a time HH:MM/],
    [',mon,06:00,14:00', /depot "" is not 1 to 64/],
  ])('refuse %s', (line, expected) => {
    expect(problems(readShifts(`depot,day,start,end\n${line}\n`))).toMatchObject([{ line: 2, problem: expect.stringMatching(expected) }])
  })
})

describe('what is exported', () => {
  it('is read again as it was', () => {
    const csv = {
      depots: 'id,name,lat,lon,markets,shift_start,shift_end\r\ng,"Girona, nord",41.98,-0.0000001,a;b,06:00,\r\n',
      vans: 'van,name,plate,depot,in_service_from,in_service_to\r\nf-1,"La ""petita""",1234 ABC,g,2026-01-01,2026-03-29\r\nf-2,f-2,,,,\r\n',
      markets: 'id,name,zone\r\na,A,"{""type"":""Polygon"",""coordinates"":[[[2,41],[3,41],[3,42],[2,41]]]}"\r\nb,B,\r\n',
      shifts: 'depot,day,start,end\r\ng,mon,06:30,21:30\r\ng,2026-12-25,,\r\n',
    }
    const all = <Row>(parsed: { readonly rows: readonly { readonly row: Row }[] } | object) =>
      rows(parsed as { rows: readonly { row: Row }[] }).map(({ row }) => row)
    const register = {
      depots: all(readDepots(csv.depots)),
      vans: all(readVans(csv.vans)),
      markets: all(readMarkets(csv.markets)),
      shifts: all(readShifts(csv.shifts)),
    }
    for (const kind of ['vans', 'markets', 'shifts'] as const) expect(registerCsv(kind, register as never)).toBe(csv[kind])
    expect(all(readDepots(registerCsv('depots', register as never)))).toEqual(register.depots)
  })
})
