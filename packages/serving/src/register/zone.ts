import type { Zone } from '@km0/contracts'
import { z } from 'zod'

/** Positions of one zone at most: a municipality's border has some hundreds. */
export const ZONE_MAX_POSITIONS = 20_000

const position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)]).rest(z.number())
const ring = z
  .array(position)
  .min(4)
  .refine((points) => points[0]?.[0] === points.at(-1)?.[0] && points[0]?.[1] === points.at(-1)?.[1], 'a ring that does not close')
const polygon = z.object({ type: z.literal('Polygon'), coordinates: z.array(ring).min(1) })
const multiPolygon = z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(z.array(ring).min(1)).min(1) })
const geometry = z.union([polygon, multiPolygon])
const feature = z.object({ type: z.literal('Feature'), geometry })
const anything = z.union([geometry, feature, z.object({ type: z.literal('FeatureCollection'), features: z.array(feature).min(1) })])

/** GeoJSON (RFC 7946) as text, given as one geometry: a Polygon or MultiPolygon, or a Feature or FeatureCollection of them. */
export const zoneText = z.string().transform((text, context): Zone | null => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    context.addIssue('is not JSON')
    return null
  }
  const parsed = anything.safeParse(json)
  if (!parsed.success) {
    context.addIssue('is not GeoJSON of a Polygon or MultiPolygon, longitude before latitude, with rings that close')
    return null
  }
  const zone = zoneOf(parsed.data)
  const polygons = zone.type === 'Polygon' ? [zone.coordinates] : zone.coordinates
  if (polygons.flat().reduce((sum, points) => sum + points.length, 0) > ZONE_MAX_POSITIONS) {
    context.addIssue(`has more than ${ZONE_MAX_POSITIONS} positions; simplify it`)
  }
  return zone
})

function zoneOf(json: z.infer<typeof anything>): Zone {
  if (json.type === 'Polygon' || json.type === 'MultiPolygon') return json
  if (json.type === 'Feature') return json.geometry
  const polygons = json.features.flatMap((part) =>
    part.geometry.type === 'Polygon' ? [part.geometry.coordinates] : part.geometry.coordinates,
  )
  return { type: 'MultiPolygon', coordinates: polygons }
}
