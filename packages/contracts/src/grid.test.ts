import fc from 'fast-check'
import { expect, it } from 'vitest'
import { gridCentre } from './grid.ts'

const place = fc.record({ lat: fc.double({ min: -89, max: 89, noNaN: true }), lon: fc.double({ min: -179.9, max: 179.9, noNaN: true }) })
const size = fc.integer({ min: 100, max: 20_000 })

it('gives itself again, and lies within half a cell in each direction', () => {
  fc.assert(
    fc.property(place, size, ({ lat, lon }, sizeM) => {
      const [rowLat, columnLon] = gridCentre(lat, lon, sizeM)
      expect(gridCentre(rowLat, columnLon, sizeM)).toEqual([rowLat, columnLon])
      expect(Math.abs(rowLat - lat) * 111_195).toBeLessThan(sizeM / 2 + 1)
      expect(Math.abs(columnLon - lon) * 111_195 * Math.cos((rowLat * Math.PI) / 180)).toBeLessThan(sizeM / 2 + 1)
    }),
  )
})

it('tells places of one cell from each other by nothing', () => {
  const share = fc.double({ min: -0.45, max: 0.45, noNaN: true })
  fc.assert(
    fc.property(place, size, share, share, ({ lat, lon }, sizeM, up, aside) => {
      const [rowLat, columnLon] = gridCentre(lat, lon, sizeM)
      const step = sizeM / 111_195
      const other = gridCentre(rowLat + up * step, columnLon + (aside * step) / Math.cos((rowLat * Math.PI) / 180), sizeM)
      // Where the last column of a row is cut off by the date line its centre is another place.
      if (Math.abs(columnLon) + step * 60 < 180 && Math.abs(rowLat) < 88) expect(other).toEqual([rowLat, columnLon])
    }),
  )
})

it('a kilometre in Girona', () => {
  expect(gridCentre(41.9794, 2.8214, 1_000)).toEqual(gridCentre(41.9799, 2.8219, 1_000))
  expect(gridCentre(41.9794, 2.8214, 1_000)).not.toEqual(gridCentre(41.9994, 2.8214, 1_000))
})
