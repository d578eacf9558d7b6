import type { PanelPoint } from '@km0/contracts'
import { describe, expect, test } from 'vitest'
import { GLIDE_MS, Motion } from './motion.ts'
import type { Marker } from './prepare-markers.ts'
import { extendTrail } from './prepare-trail.ts'

const marker = (van: string, lon: number, lat = 42): Marker => ({
  van,
  lon,
  lat,
  icon: 'moving',
  headingDegrees: 0,
  label: van,
  age: '',
  level: 0,
})
const lonOf = (motion: Motion, nowMs: number) => motion.frame(nowMs).markers[0]?.lon

describe('motion', () => {
  test('glides to the new place and stops there, never beyond', () => {
    const motion = new Motion()
    expect(motion.setMarkers([marker('a', 2.8)], 0, 0)).toBe(false)
    expect(motion.setMarkers([marker('a', 2.801)], 1_000, 0)).toBe(true)
    expect(lonOf(motion, 1_000)).toBe(2.8)
    const half = lonOf(motion, 1_000 + GLIDE_MS / 2) as number
    expect(half).toBeGreaterThan(2.8)
    expect(half).toBeLessThan(2.801)
    expect(motion.frame(1_000 + GLIDE_MS)).toEqual({ markers: [marker('a', 2.801)], moving: false })
  })

  test('a new place on the way goes on from where it is drawn', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8)], 0, 0)
    motion.setMarkers([marker('a', 2.801)], 0, 0)
    const drawn = lonOf(motion, 300) as number
    motion.setMarkers([marker('a', 2.802)], 300, 0)
    expect(lonOf(motion, 300)).toBeCloseTo(drawn, 9)
    expect(lonOf(motion, 300 + GLIDE_MS)).toBe(2.802)
  })

  test('a jump of kilometres, and who wants no motion, is put in place at once', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8)], 0, 0)
    expect(motion.setMarkers([marker('a', 3.2)], 0, 0)).toBe(false)
    expect(lonOf(motion, 0)).toBe(3.2)
    expect(motion.setMarkers([marker('a', 3.201)], 0, Number.POSITIVE_INFINITY)).toBe(false)
    expect(lonOf(motion, 0)).toBe(3.201)
  })

  test('a step of less than a pixel is not worth a frame', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8)], 0, 0)
    expect(motion.setMarkers([marker('a', 2.8005)], 0, 0.1)).toBe(false)
    expect(lonOf(motion, 0)).toBe(2.8005)
    expect(motion.setMarkers([marker('a', 2.804)], 0, 0.1)).toBe(true)
  })

  test('a thousand rounds of 140 vans leave nothing behind', () => {
    const motion = new Motion()
    for (let round = 0; round < 1_000; round += 1) {
      motion.setMarkers(
        Array.from({ length: 140 }, (_, n) => marker(`v${n}`, 2.8 + round * 0.0001)),
        round * 1_000,
        0,
      )
    }
    expect(motion.frame(1_000_000)).toMatchObject({ moving: false })
    expect(motion.frame(1_000_000).markers).toHaveLength(140)
    expect(motion.setMarkers([], 1_000_000, 0)).toBe(false)
    expect(motion.frame(1_000_001)).toEqual({ markers: [], moving: false })
  })
})

describe('the trail', () => {
  const point = (eventMs: number) => ({ van: 'a', lon: 2.8, lat: 42, eventMs }) as PanelPoint
  const trail = { van: 'a', points: [[2.7, 42, 0] as const, [2.75, 42, 60_000] as const] }

  test('grows by newer points and drops what is older than 15 minutes', () => {
    expect(extendTrail(trail, point(120_000)).points).toHaveLength(3)
    expect(extendTrail(trail, point(16 * 60_000)).points.map(([, , ms]) => ms)).toEqual([60_000, 16 * 60_000])
  })

  test('stays the same object when the point is no news', () => {
    expect(extendTrail(trail, point(60_000))).toBe(trail)
    expect(extendTrail(trail, point(1))).toBe(trail)
  })
})
