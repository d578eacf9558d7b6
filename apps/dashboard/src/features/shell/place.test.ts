import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HIDEABLE, HOME_PLACE, MAP_LAYERS, type Place, readPlace, VIEWS, writePlace } from './place.ts'

const round = (value: number, digits: number) => Number(value.toFixed(digits))
const place: fc.Arbitrary<Place> = fc
  .record({
    van: fc.option(fc.string({ minLength: 1 })),
    view: fc.constantFrom(...VIEWS),
    hidden: fc.subarray([...HIDEABLE]),
    depot: fc.option(fc.string({ minLength: 1 })),
    layers: fc.subarray([...MAP_LAYERS]),
    follow: fc.boolean(),
    camera: fc.option(
      fc.record({
        zoom: fc.double({ min: 0, max: 24, noNaN: true }).map((value) => round(value, 2)),
        lat: fc.double({ min: -85, max: 85, noNaN: true }).map((value) => round(value, 5)),
        lon: fc.double({ min: -180, max: 180, noNaN: true }).map((value) => round(value, 5)),
      }),
    ),
  })
  .map((given) => ({ ...given, follow: given.follow && given.van !== null }))

describe('a link', () => {
  test('opens the place that it was made of', () => {
    fc.assert(
      fc.property(place, (given) => {
        // Zero and minus zero are the same place.
        expect(readPlace(writePlace(given, ''))).toEqual(JSON.parse(JSON.stringify(given)))
      }),
      { seed: 3, numRuns: 300 },
    )
  })

  test('of home is empty; what is not ours stays', () => {
    expect(writePlace(HOME_PLACE, '')).toBe('')
    expect(writePlace(HOME_PLACE, '?other=1&van=furgoneta-3')).toBe('?other=1')
  })

  test('is readable', () => {
    const camera = { zoom: 11.2, lat: 41.98, lon: 2.82 }
    const given: Place = { ...HOME_PLACE, van: 'furgoneta-3', hidden: ['stopped', 'unknown'], layers: ['points'], follow: true, camera }
    expect(writePlace(given, '')).toBe('?van=furgoneta-3&hide=stopped,unknown&layers=points&follow=1&map=11.20/41.98000/2.82000')
  })

  test.each(['?map=9/91/2', '?map=9', '?map=a/b/c', '?map=//', '?map=9/1/2/3', '?view=cellar', '?hide=walls', '?layers=,', '?follow=1'])(
    'that is damaged (%s) opens home',
    (search) => expect(readPlace(search)).toEqual(HOME_PLACE),
  )
})
