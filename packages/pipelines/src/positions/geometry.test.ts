import distance from '@turf/distance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bearingDegrees, distanceMm } from './geometry.ts'

const latitude = fc.double({ min: -90, max: 90, noNaN: true })
const longitude = fc.double({ min: -180, max: 180, noNaN: true })

describe('distanceMm', () => {
  it('is what @turf/distance gives, in whole millimetres', () => {
    fc.assert(
      fc.property(latitude, longitude, latitude, longitude, (lat1, lon1, lat2, lon2) => {
        const metres = distance([lon1, lat1], [lon2, lat2], { units: 'meters' })
        if (!Number.isNaN(metres)) expect(distanceMm(lat1, lon1, lat2, lon2)).toBe(Math.floor(metres * 1000 + 0.5))
      }),
      { numRuns: 3000 },
    )
  })

  it('between antipodes is half the way round, where turf gives NaN', () => {
    expect(distance([35.5923, 61.8868], [-144.4077, -61.8868])).toBeNaN()
    expect(distanceMm(61.8868, 35.5923, -61.8868, -144.4077)).toBe(Math.round(Math.PI * 6_371_008.8 * 1000))
  })

  it('is a number for any two points, and 0 between equal ones', () => {
    fc.assert(
      fc.property(latitude, longitude, (lat, lon) => {
        expect(distanceMm(lat, lon, lat, lon)).toBe(0)
        expect(Number.isSafeInteger(distanceMm(lat, lon, -lat, lon > 0 ? lon - 180 : lon + 180))).toBe(true)
      }),
    )
  })

  it('takes latitude first', () => {
    expect(distanceMm(41.98, 2.82, 41.98, 2.83) / 1000).toBeCloseTo(826.7, 0)
    expect(distanceMm(41.98, 2.82, 41.99, 2.82) / 1000).toBeCloseTo(1112, 0)
  })
})

describe('bearingDegrees', () => {
  it.each([
    [[41, 2], [42, 2], 0],
    [[0, 2], [0, 3], 90],
    [[42, 2], [41, 2], 180],
    [[0, 2], [0, 1], 270],
    [[10, 179.99], [10, -179.99], 90],
    [[41, 2], [42, 1.9999], 0],
  ] as const)('from %j to %j is %i', ([lat1, lon1], [lat2, lon2], degrees) => {
    expect(bearingDegrees(lat1, lon1, lat2, lon2)).toBe(degrees)
  })

  it('is a whole number from 0 to 359', () => {
    fc.assert(
      fc.property(latitude, longitude, latitude, longitude, (lat1, lon1, lat2, lon2) => {
        const degrees = bearingDegrees(lat1, lon1, lat2, lon2)
        expect(Number.isInteger(degrees) && degrees >= 0 && degrees < 360).toBe(true)
      }),
    )
  })
})
