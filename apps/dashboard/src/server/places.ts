/// <reference path="../types/which-polygon.d.ts" />
import { readFileSync } from 'node:fs'
import whichPolygon from 'which-polygon'

/** Name of the place at a point; null off the known ones. */
export type PlaceOf = (lat: number, lon: number) => string | null

/** The coast of the polygons is coarse (190 m): a van on a quay lies off them. */
const NEAREST_WITHIN_KM = 3
const KM_PER_DEGREE = 111.2

interface Municipality {
  readonly properties: { readonly name: string }
  readonly geometry: { readonly coordinates: unknown }
}

/** Look-up of municipalities in a GeoJSON file. Throws when the file is missing or no GeoJSON. */
export function readPlaces(path: string): PlaceOf {
  const collection = JSON.parse(readFileSync(path, 'utf8')) as { type: 'FeatureCollection'; features: Municipality[] }
  return placesOf(collection)
}

export function placesOf(collection: { type: 'FeatureCollection'; features: readonly Municipality[] }): PlaceOf {
  const inside = whichPolygon(collection)
  const corners = collection.features.flatMap((feature) => cornersOf(feature.geometry.coordinates).map((at) => ({ at, feature })))
  return (lat, lon) => {
    const found = inside([lon, lat])
    if (found !== null) return found.name
    let best: { km: number; name: string } | null = null
    const scale = Math.cos((lat * Math.PI) / 180)
    for (const { at, feature } of corners) {
      if (Math.abs(at[1] - lat) > NEAREST_WITHIN_KM / KM_PER_DEGREE) continue
      const km = Math.hypot((at[0] - lon) * scale, at[1] - lat) * KM_PER_DEGREE
      if (km <= NEAREST_WITHIN_KM && (best === null || km < best.km)) best = { km, name: feature.properties.name }
    }
    return best?.name ?? null
  }
}

function cornersOf(coordinates: unknown): (readonly [number, number])[] {
  if (!Array.isArray(coordinates)) return []
  if (typeof coordinates[0] === 'number') return [[coordinates[0], coordinates[1] as number]]
  return coordinates.flatMap(cornersOf)
}
