import type { FilterSpecification, LayerSpecification, SourceSpecification } from 'maplibre-gl'
import { FONT } from './style.ts'

/** Colours of the panel's own layers, read from the page's CSS variables. */
export interface OverlayColors {
  readonly text: string
  readonly halo: string
  readonly accent: string
  readonly silent: string
  readonly soft: string
}

export const EMPTY = { type: 'FeatureCollection' as const, features: [] }

export function overlaySources(): Record<string, SourceSpecification> {
  return {
    vans: { type: 'geojson', data: EMPTY, promoteId: 'van' },
    trail: { type: 'geojson', data: EMPTY, lineMetrics: true },
  }
}

/** Layers of the fleet, from bottom to top. What needs somebody's eyes lies above place names; place names make room for it. */
export function overlayLayers(colors: OverlayColors, scale: number): LayerSpecification[] {
  const icon = {
    'icon-image': ['get', 'icon'],
    'icon-rotate': ['get', 'heading'],
    'icon-rotation-alignment': 'map',
    'icon-allow-overlap': true,
    'icon-size': ['interpolate', ['linear'], ['zoom'], 7, 0.72 * scale, 9, 0.9 * scale, 12, 1.15 * scale],
  }
  const text = {
    'text-font': [FONT.bold],
    'text-size': ['interpolate', ['linear'], ['zoom'], 8, 10.5 * scale, 12, 13 * scale],
    'text-anchor': 'top',
    'text-offset': [0, 0.85],
    'text-optional': true,
    'text-line-height': 1.15,
  }
  const halo = { 'text-halo-color': colors.halo, 'text-halo-width': 1.8, 'text-halo-blur': 0.3 }
  const level = (value: number): FilterSpecification => ['==', ['get', 'level'], value]
  return [
    {
      id: 'trail-casing',
      type: 'line',
      source: 'trail',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': colors.halo, 'line-width': 6, 'line-opacity': 0.7 },
    },
    {
      id: 'trail',
      type: 'line',
      source: 'trail',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
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
      id: 'selected-ring',
      type: 'circle',
      source: 'vans',
      filter: ['==', ['get', 'van'], ''],
      paint: {
        'circle-radius': 17 * scale,
        'circle-color': transparent(colors.accent, 0.16),
        'circle-stroke-color': colors.accent,
        'circle-stroke-width': 2,
      },
    },
    { id: 'vans', type: 'symbol', source: 'vans', filter: level(0), layout: { ...icon, 'icon-ignore-placement': true } },
    {
      id: 'van-names',
      type: 'symbol',
      source: 'vans',
      minzoom: 11,
      filter: ['<', ['get', 'level'], 1],
      layout: { 'text-field': ['get', 'label'], ...text },
      paint: { 'text-color': colors.text, ...halo },
    },
    {
      id: 'vans-old',
      type: 'symbol',
      source: 'vans',
      filter: level(1),
      layout: { ...icon, 'text-field': ['get', 'age'], ...text },
      paint: { 'text-color': colors.soft, ...halo },
    },
    {
      id: 'vans-silent',
      type: 'symbol',
      source: 'vans',
      filter: level(2),
      layout: { ...icon, 'text-field': ['format', ['get', 'label'], {}, '\n', {}, ['get', 'age'], { 'font-scale': 0.92 }], ...text },
      paint: { 'text-color': colors.silent, ...halo },
    },
    {
      id: 'van-selected',
      type: 'symbol',
      source: 'vans',
      filter: ['==', ['get', 'van'], ''],
      layout: {
        ...icon,
        'text-field': ['get', 'label'],
        ...text,
        // Below the ring.
        'text-offset': [0, 1.25],
        'text-optional': false,
        'text-allow-overlap': true,
      },
      paint: { 'text-color': colors.text, ...halo },
    },
    {
      id: 'van-hovered',
      type: 'symbol',
      source: 'vans',
      filter: ['==', ['get', 'van'], ''],
      layout: {
        'text-field': ['get', 'label'],
        ...text,
        'text-optional': false,
        'text-allow-overlap': true,
        'text-ignore-placement': true,
      },
      paint: { 'text-color': colors.text, ...halo },
    },
  ] as unknown as LayerSpecification[]
}

export const VAN_LAYERS = ['van-selected', 'vans-silent', 'vans-old', 'vans'] as const

/** A hexadecimal colour with an opacity. */
function transparent(hex: string, opacity = 0): string {
  const value = Number.parseInt(hex.slice(1), 16)
  return `rgba(${(value >> 16) & 255}, ${(value >> 8) & 255}, ${value & 255}, ${opacity})`
}
