import { describe, expect, it } from 'vitest'
import { DEPOTS, vanPlan } from '../vans/depots.ts'
import { distanceM } from './earth.ts'
import { ROADS, ROADS_OF_TOWN } from './roads.ts'
import { placeNear, roadDistanceM, routeBetween } from './route.ts'
import { TOWNS } from './towns.ts'

describe('roads', () => {
  it('lead from every town to every other', () => {
    for (const town of TOWNS.keys()) expect(roadDistanceM(0, town), TOWNS[town]!.name).toBeLessThan(150_000)
  })

  it('wind, but not too much', () => {
    for (const road of ROADS) {
      const straightM = distanceM(TOWNS[road.from]!, TOWNS[road.to]!)
      expect(road.lengthM / straightM).toBeGreaterThan(1)
      expect(road.lengthM / straightM).toBeLessThan(1.5)
    }
  })

  it('a route begins and ends at its doors, in small steps, and is as long as its metres say', () => {
    for (let town = 1; town < TOWNS.length; town += 1) {
      const from = placeNear(0, ROADS_OF_TOWN[0]![0]!, 300, 20)
      const to = placeNear(town, ROADS_OF_TOWN[town]!.at(-1)!, 500, -30)
      const route = routeBetween(from, to)
      expect(route.points[0]).toEqual(from.point)
      expect(distanceM(route.points.at(-1)!, to.point)).toBeLessThan(1)
      let metres = 0
      for (let at = 1; at < route.points.length; at += 1) {
        const stepM = distanceM(route.points[at - 1]!, route.points[at]!)
        expect(stepM).toBeLessThan(400)
        metres += stepM
      }
      expect(Math.abs(metres - route.lengthM)).toBeLessThan(1)
      expect(route.lengthM).toBeGreaterThan(distanceM(from.point, to.point) - 1)
    }
  })
})

describe('the yard', () => {
  it('every van has its depot, its plate and a place within 150 m', () => {
    const vans = Array.from({ length: 140 }, (_, index) => vanPlan(index + 1))
    expect(new Set(vans.map((van) => van.van)).size).toBe(140)
    expect(new Set(vans.map((van) => van.plate)).size).toBe(140)
    expect(DEPOTS.map((depot) => vans.filter((van) => van.depot === depot).length)).toEqual([50, 30, 20, 20, 20])
    for (const van of vans) {
      expect(van.plate).toMatch(/^\d{4} [B-DF-HJ-NP-TV-Z]{3}$/)
      expect(distanceM(van.yard.point, van.depot.place.point)).toBeLessThan(150)
    }
  })
})
