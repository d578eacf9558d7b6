import { type RegisterView, WEEKDAYS } from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calendarFields, idOf, readHours, readPlace, readZone, shiftsOf, writeHours } from './prepare-forms.ts'
import { partOf, prepareDepotRows, prepareMarketRows, prepareShiftRows, prepareVanRows, retiredDay } from './prepare-register.ts'

/** Monday, 12:00 in Madrid. */
const NOW = Date.UTC(2026, 10, 30, 11)
const DAY = 86_400_000
const depot = (id: string, markets: string[] = [], shiftStart: string | null = null, shiftEnd: string | null = null) => ({
  ...{ id, name: `Base ${id}`, lat: 42, lon: 2.8, markets, shiftStart, shiftEnd },
})
const van = (name: string, depotId: string | null, inServiceFromMs: number | null = null, inServiceToMs: number | null = null) => ({
  ...{ van: name, name: `Furgoneta ${name}`, plate: '1234 ABC', depotId, inServiceFromMs, inServiceToMs },
})
const square = {
  type: 'Polygon' as const,
  coordinates: [
    [
      [2, 41],
      [3, 41],
      [3, 42],
      [2, 41],
    ],
  ],
}
const view: RegisterView = {
  nowMs: NOW,
  mayEdit: true,
  depots: [depot('girona', ['lleo', 'salt']), depot('olot', [], '06:00', '14:00'), depot('free')],
  vans: [van('10', 'girona'), van('9', 'olot'), van('old', 'girona', null, Date.UTC(2026, 10, 29, 23)), van('new', null, NOW + DAY)],
  markets: [
    { id: 'lleo', name: 'Lleó', zone: square },
    { id: 'far', name: 'Far', zone: null },
  ],
  shifts: [
    { depotId: 'girona', day: 'mon', start: '06:30', end: '10:00' },
    { depotId: 'girona', day: 'mon', start: '16:00', end: '21:30' },
    { depotId: 'girona', day: '2026-12-25', start: null, end: null },
    { depotId: 'girona', day: '2026-01-06', start: null, end: null },
  ],
}

describe('vans of the register', () => {
  test('are by name, numbers in order, those out of service last', () => {
    expect(prepareVanRows(view, '', NOW).map(({ van: { van: name }, service, to }) => [name, service, to])).toEqual([
      ['9', 'in', ''],
      ['10', 'in', ''],
      ['new', 'future', ''],
      // Until midnight: the 29th was its last day.
      ['old', 'retired', '2026-11-29'],
    ])
  })

  test('are found by name, plate and depot, without accents', () => {
    const found = (search: string) => prepareVanRows(view, search, NOW).map(({ van: { van: name } }) => name)
    expect(found('GIRÓNA furgo')).toEqual(['10', 'old'])
    expect(found('1234 9')).toEqual(['9'])
    expect(found('nothing')).toEqual([])
  })

  test('a van that is retired has had its last day yesterday; one that began today ends today', () => {
    const [row] = prepareVanRows(view, '9', NOW)
    expect(retiredDay(row!, NOW)).toBe('2026-11-29')
    expect(retiredDay({ ...row!, from: '2026-11-30' }, NOW)).toBe('2026-11-30')
  })
})

describe('depots, markets and shifts', () => {
  test('tell how they hang together', () => {
    expect(prepareDepotRows(view).map(({ vans, marketNames }) => [vans, marketNames])).toEqual([
      [2, ['Lleó', 'salt']],
      [1, []],
      [0, []],
    ])
    expect(prepareMarketRows(view).map(({ depotNames, positions }) => [depotNames, positions])).toEqual([
      [['Base girona'], 3],
      [[], null],
    ])
  })

  test('a week, the dates to come, and what it means now', () => {
    const [girona, olot, free] = prepareShiftRows(view, NOW)
    expect(girona?.week?.[0]).toEqual(['06:30–10:00', '16:00–21:30'])
    expect(girona?.week?.[1]).toEqual([])
    expect(girona?.exceptions).toEqual([{ date: '2026-12-25', hours: [] }])
    expect(girona?.now).toMatchObject({ shift: null, nextMs: Date.UTC(2026, 10, 30, 15) })
    expect(olot?.week?.every((day) => day.join() === '06:00–14:00')).toBe(true)
    expect(olot?.now?.shift).toEqual({ startMs: Date.UTC(2026, 10, 30, 5), endMs: Date.UTC(2026, 10, 30, 13) })
    expect([free?.week, free?.now]).toEqual([null, null])
  })

  test('the address names one of the four', () => {
    expect([partOf('shifts'), partOf('x'), partOf(undefined), partOf(['depots'])]).toEqual(['shifts', 'vans', 'vans', 'vans'])
  })
})

describe('forms', () => {
  test.each([
    ['', []],
    ['06:30-14:00', ['06:30–14:00']],
    [' 6.30 – 14 , 15:00—21:30', ['06:30–14:00', '15:00–21:30']],
    ['22-6', ['22:00–06:00']],
  ])('hours as people write them: %j', (text, expected) => {
    expect(readHours(text)?.map((span) => writeHours([span]))).toEqual(expected)
  })
  test.each(['24:00-25:00', '06:30', '6-', 'matí', '06:30-14:00,,', '6:60-7'])('no hours: %j', (text) => {
    expect(readHours(text)).toBeNull()
  })

  test('a calendar is read as it was written (property)', () => {
    const clock = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map((parts) => parts.map((n) => `${n}`.padStart(2, '0')).join(':'))
    const spans = fc.uniqueArray(fc.record({ start: clock, end: clock }), { maxLength: 3, selector: ({ start }) => start })
    const days = fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { maxLength: 7 })
    fc.assert(
      fc.property(fc.array(spans, { minLength: 9, maxLength: 9 }), days, (hours, worked) => {
        const week = WEEKDAYS.filter((day) => worked.includes(day)).flatMap((day, n) =>
          (hours[n] ?? []).map((span) => ({ depotId: 'g', day, ...span })),
        )
        const off = { depotId: 'g', day: '2026-12-25', start: null, end: null }
        const dated = (hours[8] ?? []).map((span) => ({ depotId: 'g', day: '2026-12-26', ...span }))
        const shifts = [...week, off, ...dated]
        const view = { shifts: [...shifts, { ...off, depotId: 'other' }] } as unknown as RegisterView
        expect(shiftsOf(calendarFields(view, 'g'))).toEqual(shifts.map(({ depotId: _, ...shift }) => shift))
      }),
    )
  })

  test('say what is wrong with a date, a place, a zone', () => {
    const week = {}
    expect(shiftsOf({ week, dates: [{ date: '', hours: '' }] })).toEqual([])
    expect(shiftsOf({ week, dates: [{ date: '', hours: '6-14' }] })).toEqual({ problem: 'date', what: '6-14' })
    const twice = { date: '2026-12-25', hours: '' }
    expect(shiftsOf({ week, dates: [twice, twice] })).toEqual({ problem: 'date', what: '2026-12-25' })
    expect(readPlace('41.98311, 2.82493')).toEqual({ lat: 41.98311, lon: 2.82493 })
    expect(readPlace('(-41.9 -2)')).toEqual({ lat: -41.9, lon: -2 })
    for (const wrong of ['41,98, 2,8', '91, 2', '41', '', 'Girona']) expect(readPlace(wrong)).toBeNull()
    expect(readZone(' ')).toEqual({ zone: null })
    expect(readZone('{"type":"Polygon"}')).toEqual({ zone: { type: 'Polygon' } })
    for (const wrong of ['{', '[]', '3', 'null']) expect(readZone(wrong)).toMatchObject({ problem: 'zone' })
    expect(idOf(' Sant Feliu de Guíxols (nord) ')).toBe('sant-feliu-de-guixols-nord')
  })
})
