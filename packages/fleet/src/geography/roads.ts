import { Random, seedOf } from '../random.ts'
import { along, asideM, distanceM, type Point } from './earth.ts'
import { TOWNS } from './towns.ts'

/** A road between two towns, the same for every van and every seed. */
export interface Road {
  readonly index: number
  /** Indices of towns. */
  readonly from: number
  readonly to: number
  readonly points: readonly Point[]
  /** Metres from the beginning, one for each point. */
  readonly metres: readonly number[]
  readonly lengthM: number
  /** What drivers do on it away from towns. */
  readonly cruiseMs: number
}

/** Neighbours between which the sea or a mountain lies. */
const NO_ROAD = new Set([
  'Sant Feliu de Guíxols|Tossa de Mar',
  'Roses|Empuriabrava',
  'Palamós|Calonge',
  "Palamós|Castell-Platja d'Aro",
  "Begur|L'Estartit",
  'Llançà|Cadaqués',
  "Sant Joan de les Abadesses|Sant Esteve d'en Bas",
  'Santa Coloma de Farners|Riells i Viabrea',
  'Camprodon|Ribes de Freser',
  'Besalú|Maçanet de Cabrenys',
])

const STEP_M = 120
const WINDING = 0.14

/** All roads: neighbours in the sense of Gabriel and Sokal (1969), i.e. no third town lies in the circle between the two. */
export const ROADS: readonly Road[] = buildRoads()

function buildRoads(): Road[] {
  const roads: Road[] = []
  for (let from = 0; from < TOWNS.length; from += 1) {
    for (let to = from + 1; to < TOWNS.length; to += 1) {
      if (areNeighbours(from, to)) roads.push(buildRoad(roads.length, from, to))
    }
  }
  return roads
}

function areNeighbours(from: number, to: number): boolean {
  const a = TOWNS[from]!
  const b = TOWNS[to]!
  if (NO_ROAD.has(`${a.name}|${b.name}`)) return false
  const middle = along(a, b, 0.5)
  const radiusM = distanceM(a, b) / 2
  return TOWNS.every((town, index) => index === from || index === to || distanceM(middle, town) >= radiusM)
}

function buildRoad(index: number, from: number, to: number): Road {
  const a = TOWNS[from]!
  const b = TOWNS[to]!
  const random = new Random(seedOf(`${a.name}|${b.name}`))
  const straightM = distanceM(a, b)
  const points = rounded([{ lat: a.lat, lon: a.lon }, ...bends(a, b, straightM, random), { lat: b.lat, lon: b.lon }])
  const metres = [0]
  for (let at = 1; at < points.length; at += 1) metres.push(metres[at - 1]! + distanceM(points[at - 1]!, points[at]!))
  const cruiseKmh = straightM > 8_000 ? random.between(74, 90) : straightM > 4_000 ? random.between(60, 78) : random.between(45, 60)
  return { index, from, to, points, metres, lengthM: metres.at(-1)!, cruiseMs: cruiseKmh / 3.6 }
}

/** Midpoint displacement: the middle of a stretch moves aside by a share of its length, then the halves do the same. */
function bends(a: Point, b: Point, lengthM: number, random: Random): Point[] {
  if (lengthM < STEP_M * 1.5) return []
  const displacementM = Math.max(-2, Math.min(2, random.normal())) * WINDING * lengthM * (lengthM > 6_000 ? 0.6 : 1)
  const middle = asideM(along(a, b, 0.5), a, b, displacementM)
  return [...bends(a, middle, lengthM / 2, random), middle, ...bends(middle, b, lengthM / 2, random)]
}

/** Cuts each corner once (Chaikin 1974); the ends stay. */
function rounded(points: readonly Point[]): Point[] {
  const smooth: Point[] = [points[0]!]
  for (let at = 1; at < points.length; at += 1) {
    smooth.push(along(points[at - 1]!, points[at]!, 0.25), along(points[at - 1]!, points[at]!, 0.75))
  }
  smooth.push(points.at(-1)!)
  return smooth
}

/** Roads that meet in a town. */
export const ROADS_OF_TOWN: readonly (readonly Road[])[] = TOWNS.map((_, town) =>
  ROADS.filter((road) => road.from === town || road.to === town),
)
