import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../shell/theme.ts'

/** What a customer brings to the map; null where the offline map is to stand alone. */
export interface OwnMap {
  /** A MapLibre style; it may name sources as `pmtiles://…`. */
  readonly styleUrl: string | null
  /** An archive of vector tiles (PMTiles) whose roads, water and buildings are drawn into the offline map. */
  readonly tilesUrl: string | null
  readonly attribution: string
}

const COLORS = {
  dark: { water: '#0d1820', building: '#24323f', major: '#46586a', minor: '#34434f', casing: '#131b23' },
  light: { water: '#cfe0e9', building: '#eae5d8', major: '#d3c8ad', minor: '#e2dccb', casing: '#fbfaf5' },
} as const

const MAJOR = ['motorway', 'trunk', 'primary', 'highway', 'major_road']
const MIDDLE = ['secondary', 'tertiary', 'medium_road']
/** On the ground, what a van does not drive on. */
const NO_ROADS = ['path', 'rail', 'ferry', 'transit', 'pier', 'aerialway', 'other']

/** Below these layers of the offline map the customer's roads are drawn. */
const BEFORE = 'border-near'

/**
 * The offline map with roads, water and buildings of the customer's tiles in it. Reads both schemas that archives come in: of Protomaps
 * (`roads` by `kind`) and of OpenMapTiles (`transportation` by `class`).
 */
export function ownTilesStyle(
  style: StyleSpecification,
  theme: Theme,
  tilesUrl: string,
  origin: string,
  attribution = '',
): StyleSpecification {
  const url = `pmtiles://${new URL(tilesUrl, origin).href}`
  const before = style.layers.findIndex(({ id }) => id === BEFORE)
  const at = before < 0 ? style.layers.length : before
  return {
    ...style,
    sources: { ...style.sources, own: { type: 'vector', url, attribution } },
    layers: [...style.layers.slice(0, at), ...ownLayers(theme), ...style.layers.slice(at)],
  }
}

function ownLayers(theme: Theme): LayerSpecification[] {
  const colors = COLORS[theme]
  const kind = ['coalesce', ['get', 'kind'], ['get', 'class'], '']
  const isOne = (kinds: readonly string[]) => ['in', kind, ['literal', [...kinds]]]
  const round = { 'line-cap': 'round', 'line-join': 'round' }
  const width = (from: number, to: number) => ['interpolate', ['exponential', 1.6], ['zoom'], 8, from, 17, to]
  const roads = ['roads', 'transportation'].flatMap((layer) => [
    {
      id: `own-${layer}-minor`,
      type: 'line',
      source: 'own',
      'source-layer': layer,
      minzoom: 11,
      filter: ['!', isOne([...MAJOR, ...MIDDLE, ...NO_ROADS])],
      layout: round,
      paint: { 'line-color': colors.minor, 'line-width': width(0.3, 9) },
    },
    {
      id: `own-${layer}-middle`,
      type: 'line',
      source: 'own',
      'source-layer': layer,
      filter: isOne(MIDDLE),
      layout: round,
      paint: { 'line-color': colors.major, 'line-width': width(0.6, 13), 'line-opacity': 0.85 },
    },
    {
      id: `own-${layer}-major`,
      type: 'line',
      source: 'own',
      'source-layer': layer,
      filter: isOne(MAJOR),
      layout: round,
      paint: { 'line-color': colors.major, 'line-width': width(1.1, 18) },
    },
  ])
  const buildings = ['buildings', 'building'].map((layer) => ({
    id: `own-${layer}`,
    type: 'fill',
    source: 'own',
    'source-layer': layer,
    minzoom: 14,
    paint: { 'fill-color': colors.building },
  }))
  const water = {
    id: 'own-water',
    type: 'fill',
    source: 'own',
    'source-layer': 'water',
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': colors.water },
  }
  return [water, ...roads, ...buildings] as unknown as LayerSpecification[]
}
