import type { FilterSpecification, LayerSpecification, SourceSpecification } from 'maplibre-gl'
import type { LabelKind } from './prepare-labels.ts'
import { FONT } from './style.ts'

/** Colours of the panel's own layers, read from the page's CSS variables. */
export interface OverlayColors {
  readonly text: string
  readonly halo: string
  readonly accent: string
  readonly silent: string
  readonly soft: string
  readonly moving: string
  readonly surface: string
}

/** Polygons, of one part or many. */
const AREA = ['in', ['geometry-type'], ['literal', ['Polygon', 'MultiPolygon']]]

export const EMPTY = { type: 'FeatureCollection' as const, features: [] }

/** Named so that no customer's style has the same. Vans themselves are no source: one instanced layer draws them (van-layer.ts). */
export function overlaySources(): Record<string, SourceSpecification> {
  const data = (more: object = {}): SourceSpecification => ({ type: 'geojson', data: EMPTY, ...more }) as SourceSpecification
  return {
    'km0-zones': data(),
    'km0-trails': data({ tolerance: 0.6 }),
    'km0-backlog': data(),
    'km0-trail': data({ lineMetrics: true }),
    'km0-points': data(),
    'km0-groups': data(),
    'km0-labels': data(),
  }
}

/** Layers below the vans, from bottom to top. */
export function lineLayers(colors: OverlayColors, scale: number): LayerSpecification[] {
  const round = { 'line-cap': 'round', 'line-join': 'round' }
  return [
    { id: 'km0-zones', type: 'fill', source: 'km0-zones', filter: AREA, paint: { 'fill-color': colors.accent, 'fill-opacity': 0.07 } },
    {
      id: 'km0-zone-borders',
      type: 'line',
      source: 'km0-zones',
      filter: AREA,
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colors.accent, 'line-width': 1.4, 'line-opacity': 0.75, 'line-dasharray': [5, 2] },
    },
    {
      id: 'km0-zone-names',
      type: 'symbol',
      source: 'km0-zones',
      filter: ['==', ['geometry-type'], 'Point'],
      layout: { 'text-field': ['get', 'name'], 'text-font': [FONT.bold], 'text-size': 12 * scale, 'text-max-width': 8 },
      paint: { 'text-color': colors.accent, 'text-halo-color': colors.halo, 'text-halo-width': 1.6 },
    },
    {
      id: 'km0-trails',
      type: 'line',
      source: 'km0-trails',
      layout: round,
      paint: { 'line-color': colors.moving, 'line-width': ['interpolate', ['linear'], ['zoom'], 8, 0.9, 12, 2], 'line-opacity': 0.5 },
    },
    {
      id: 'km0-backlog-casing',
      type: 'line',
      source: 'km0-backlog',
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colors.halo, 'line-width': 5, 'line-opacity': 0.6 },
    },
    // What came late: known, but not when it happened.
    {
      id: 'km0-backlog',
      type: 'line',
      source: 'km0-backlog',
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colors.accent, 'line-width': 2.4, 'line-dasharray': [2.4, 2] },
    },
    {
      id: 'km0-trail-casing',
      type: 'line',
      source: 'km0-trail',
      layout: round,
      paint: { 'line-color': colors.halo, 'line-width': 6, 'line-opacity': 0.7 },
    },
    {
      id: 'km0-trail',
      type: 'line',
      source: 'km0-trail',
      layout: round,
      paint: {
        'line-width': 3.2,
        'line-gradient': [
          'interpolate',
          ['linear'],
          ['line-progress'],
          0,
          transparent(colors.accent),
          0.25,
          transparent(colors.accent, 0.45),
          1,
          colors.accent,
        ],
      },
    },
    {
      id: 'km0-points',
      type: 'symbol',
      source: 'km0-points',
      layout: {
        'icon-image': ['concat', 'km0-point-', ['get', 'verdict']],
        'icon-allow-overlap': true,
        'icon-ignore-placement': true,
        'icon-size': ['interpolate', ['linear'], ['zoom'], 9, 0.6 * scale, 13, scale],
        'symbol-sort-key': ['match', ['get', 'verdict'], 'accepted', 0, 'late', 1, 2],
      },
    },
    {
      id: 'km0-selected-ring',
      type: 'circle',
      source: 'km0-labels',
      filter: kind('selected'),
      paint: {
        'circle-radius': 17 * scale,
        'circle-color': transparent(colors.accent, 0.16),
        'circle-stroke-color': colors.accent,
        'circle-stroke-width': 2,
      },
    },
  ] as unknown as LayerSpecification[]
}

/** Layers above the vans, from bottom to top. What needs somebody's eyes lies above place names; place names make room for it. */
export function labelLayers(colors: OverlayColors, scale: number): LayerSpecification[] {
  const text = {
    'text-font': [FONT.bold],
    'text-size': ['interpolate', ['linear'], ['zoom'], 8, 10.5 * scale, 12, 13 * scale],
    'text-anchor': 'top',
    'text-offset': [0, 0.85],
    'text-optional': true,
    'text-line-height': 1.15,
  }
  // The van itself is drawn by its own layer; here it only takes its room.
  const room = { 'icon-image': ['get', 'icon'], 'icon-allow-overlap': true, 'icon-size': 0.9 * scale }
  const halo = { 'text-halo-color': colors.halo, 'text-halo-width': 1.8, 'text-halo-blur': 0.3 }
  const always = { 'text-optional': false, 'text-allow-overlap': true, 'text-ignore-placement': true }
  return [
    {
      id: 'km0-group-discs',
      type: 'circle',
      source: 'km0-groups',
      paint: {
        'circle-radius': ['*', scale, ['interpolate', ['linear'], ['sqrt', ['get', 'count']], 3, 11, 12, 19]],
        'circle-color': colors.surface,
        'circle-stroke-color': colors.moving,
        'circle-stroke-width': 2,
        'circle-opacity': 0.94,
      },
    },
    {
      id: 'km0-group-counts',
      type: 'symbol',
      source: 'km0-groups',
      layout: {
        'text-field': ['to-string', ['get', 'count']],
        'text-font': [FONT.bold],
        'text-size': 11.5 * scale,
        'text-allow-overlap': true,
        'text-ignore-placement': true,
      },
      paint: { 'text-color': colors.text },
    },
    {
      id: 'km0-names',
      type: 'symbol',
      source: 'km0-labels',
      filter: kind('name'),
      layout: { 'text-field': ['get', 'label'], ...text },
      paint: { 'text-color': colors.text, ...halo },
    },
    {
      id: 'km0-old',
      type: 'symbol',
      source: 'km0-labels',
      filter: kind('old'),
      layout: { ...room, 'text-field': ['get', 'age'], ...text },
      paint: { 'icon-opacity': 0, 'text-color': colors.soft, ...halo },
    },
    {
      id: 'km0-silent',
      type: 'symbol',
      source: 'km0-labels',
      filter: kind('silent'),
      layout: { ...room, 'text-field': ['format', ['get', 'label'], {}, '\n', {}, ['get', 'age'], { 'font-scale': 0.92 }], ...text },
      paint: { 'icon-opacity': 0, 'text-color': colors.silent, ...halo },
    },
    {
      id: 'km0-selected-name',
      type: 'symbol',
      source: 'km0-labels',
      filter: kind('selected'),
      // Below the ring.
      layout: { 'text-field': ['get', 'label'], ...text, 'text-offset': [0, 1.25], ...always },
      paint: { 'text-color': colors.text, ...halo },
    },
    {
      id: 'km0-hovered-name',
      type: 'symbol',
      source: 'km0-labels',
      filter: kind('hovered'),
      layout: { 'text-field': ['get', 'label'], ...text, ...always },
      paint: { 'text-color': colors.text, ...halo },
    },
  ] as unknown as LayerSpecification[]
}

function kind(value: LabelKind): FilterSpecification {
  return ['==', ['get', 'kind'], value]
}

/** A hexadecimal colour with an opacity. */
function transparent(hex: string, opacity = 0): string {
  const value = Number.parseInt(hex.slice(1), 16)
  return `rgba(${(value >> 16) & 255}, ${(value >> 8) & 255}, ${value & 255}, ${opacity})`
}
