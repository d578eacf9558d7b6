import type { FilterSpecification, LayerSpecification, SourceSpecification, StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../shell/theme.ts'

interface Palette {
  readonly sea: string
  readonly shallows: readonly [wide: string, middle: string, narrow: string]
  readonly abroad: string
  readonly spain: string
  readonly comarques: readonly [string, string, string, string]
  readonly municipality: string
  readonly near: string
  readonly comarca: string
  readonly province: string
  readonly home: string
  readonly coast: string
  readonly label: string
  readonly labelFaint: string
  readonly labelComarca: string
  readonly labelSea: string
  readonly halo: string
  readonly haloSea: string
}

const DARK: Palette = {
  sea: '#0a1117',
  shallows: ['#0d1820', '#102029', '#152b36'],
  abroad: '#131b23',
  spain: '#16202a',
  comarques: ['#1e2b37', '#212f3b', '#1c2934', '#23313e'],
  municipality: 'rgba(150, 180, 205, 0.13)',
  near: 'rgba(150, 180, 205, 0.055)',
  comarca: 'rgba(150, 182, 208, 0.34)',
  province: 'rgba(150, 180, 205, 0.2)',
  home: '#7f9bb3',
  coast: '#3f6377',
  label: '#d5dee7',
  labelFaint: '#8796a5',
  labelComarca: '#7d93a8',
  labelSea: '#52788f',
  halo: '#1a2631',
  haloSea: '#0a1117',
}

const LIGHT: Palette = {
  sea: '#cfe0e9',
  shallows: ['#d6e6ee', '#dfecf2', '#eaf3f7'],
  abroad: '#e6e4dc',
  spain: '#efede5',
  comarques: ['#fbfaf4', '#f8f6ee', '#fdfcf8', '#f6f4ea'],
  municipality: 'rgba(96, 84, 60, 0.15)',
  near: 'rgba(96, 84, 60, 0.08)',
  comarca: 'rgba(96, 84, 60, 0.4)',
  province: 'rgba(96, 84, 60, 0.24)',
  home: '#7d7058',
  coast: '#7ba0b3',
  label: '#2b3640',
  labelFaint: '#6f7880',
  labelComarca: '#8a7c62',
  labelSea: '#5b8ba3',
  halo: '#fbfaf5',
  haloSea: '#cfe0e9',
}

export const FONT = { regular: 'Inter Medium', bold: 'Inter SemiBold', italic: 'Inter Italic' } as const

/** Fonts from this server, for the panel's own labels and, in a customer's style, for the vans. */
export function fontFaces(origin: string): Record<string, { url: string; 'unicode-range': string[] }[]> {
  const face = (name: string) => [
    { url: `${origin}/map/fonts/${name}-latin.woff2`, 'unicode-range': ['U+0000-00FF', 'U+2000-206F', 'U+20AC', 'U+2122'] },
    { url: `${origin}/map/fonts/${name}-latin-ext.woff2`, 'unicode-range': ['U+0100-02FF', 'U+1E00-1EFF'] },
  ]
  return { [FONT.regular]: face('500-normal'), [FONT.bold]: face('600-normal'), [FONT.italic]: face('500-italic') }
}

const kind = (...kinds: readonly string[]): FilterSpecification => ['in', ['get', 'kind'], ['literal', [...kinds]]]

/** The offline basemap: land, borders and names of es-atlas, Natural Earth and GeoNames. */
export function basemapStyle(theme: Theme, origin: string, scale: number): StyleSpecification {
  const palette = theme === 'light' ? LIGHT : DARK
  const data = (name: string): SourceSpecification => ({
    type: 'geojson',
    data: `${origin}/map/${name}.geo.json`,
    tolerance: 0.2,
    ...(name === 'land' ? { attribution: '© IGN España CC BY 4.0 · GeoNames · Natural Earth' } : {}),
  })
  return {
    version: 8,
    'font-faces': fontFaces(origin),
    sources: { land: data('land'), borders: data('borders'), labels: data('labels') },
    layers: [...landLayers(palette), ...borderLayers(palette), ...labelLayers(palette, scale)],
  } as unknown as StyleSpecification
}

function landLayers(palette: Palette): LayerSpecification[] {
  const shallow = (id: string, color: string, narrow: number, wide: number): LayerSpecification => ({
    id,
    type: 'line',
    source: 'land',
    filter: kind('abroad', 'spain'),
    layout: { 'line-join': 'round' },
    paint: {
      'line-color': color,
      'line-width': ['interpolate', ['exponential', 1.6], ['zoom'], 6, narrow, 12, wide],
      'line-blur': ['interpolate', ['linear'], ['zoom'], 6, narrow / 3, 12, wide / 3],
    },
  })
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': palette.sea } },
    // Contours of ever shallower water, as on old charts: lines that the land covers from the other side.
    shallow('shallows-wide', palette.shallows[0], 30, 220),
    shallow('shallows-middle', palette.shallows[1], 16, 110),
    shallow('shallows-narrow', palette.shallows[2], 6, 40),
    { id: 'abroad', type: 'fill', source: 'land', filter: kind('abroad', 'under'), paint: { 'fill-color': palette.abroad } },
    {
      id: 'seam',
      type: 'line',
      source: 'land',
      filter: kind('seam'),
      // About 3 km on the ground at every zoom.
      paint: { 'line-color': palette.abroad, 'line-width': ['interpolate', ['exponential', 2], ['zoom'], 5, 0.9, 15, 900] },
    },
    { id: 'spain', type: 'fill', source: 'land', filter: kind('spain'), paint: { 'fill-color': palette.spain } },
    {
      id: 'comarques',
      type: 'fill',
      source: 'land',
      filter: kind('comarca'),
      paint: {
        'fill-color': [
          'match',
          ['get', 'tone'],
          0,
          palette.comarques[0],
          1,
          palette.comarques[1],
          2,
          palette.comarques[2],
          palette.comarques[3],
        ],
      },
    },
  ]
}

function borderLayers(palette: Palette): LayerSpecification[] {
  const line = (id: string, color: string, widths: readonly [number, number], extra: Record<string, unknown> = {}): LayerSpecification => ({
    id: `border-${id}`,
    type: 'line',
    source: 'borders',
    filter: kind(id),
    layout: { 'line-join': 'round', 'line-cap': 'round' },
    paint: { 'line-color': color, 'line-width': ['interpolate', ['linear'], ['zoom'], 7, widths[0], 12, widths[1]], ...extra },
  })
  return [
    line('near', palette.near, [0.4, 1]),
    line('municipality', palette.municipality, [0.4, 1.2]),
    line('province', palette.province, [0.7, 1.4]),
    line('comarca', palette.comarca, [0.7, 1.6]),
    line('coast', palette.coast, [0.8, 1.6]),
    line('frontier', palette.home, [1, 2], { 'line-opacity': 0.75, 'line-dasharray': [4, 1.5, 1, 1.5] }),
    line('home', palette.home, [1.1, 2.2], { 'line-opacity': 0.85 }),
  ]
}

function labelLayers(palette: Palette, scale: number): LayerSpecification[] {
  const population = ['coalesce', ['get', 'population'], 0]
  return [
    {
      id: 'label-sea',
      type: 'symbol',
      source: 'labels',
      filter: kind('sea'),
      layout: {
        'text-field': ['get', 'name'],
        'text-font': [FONT.italic],
        'text-size': ['match', ['get', 'rank'], 0, 15 * scale, 12 * scale],
        'text-letter-spacing': 0.12,
        'text-max-width': 7,
      },
      paint: { 'text-color': palette.labelSea, 'text-halo-color': palette.haloSea, 'text-halo-width': 1 },
    },
    {
      id: 'label-comarca',
      type: 'symbol',
      source: 'labels',
      filter: kind('comarca'),
      minzoom: 7.6,
      maxzoom: 10.6,
      layout: {
        'text-field': ['get', 'name'],
        'text-transform': 'uppercase',
        'text-font': [FONT.bold],
        'text-size': ['interpolate', ['linear'], ['zoom'], 8, 9.5 * scale, 10, 12.5 * scale],
        'text-letter-spacing': 0.18,
        'text-max-width': 6,
        'text-padding': 3,
      },
      paint: { 'text-color': palette.labelComarca, 'text-opacity': 0.85, 'text-halo-color': palette.halo, 'text-halo-width': 1.2 },
    },
    {
      id: 'label-place',
      type: 'symbol',
      source: 'labels',
      filter: [
        'all',
        kind('home', 'near'),
        ['>=', population, ['step', ['zoom'], 12_000, 8, 7_000, 9, 2_500, 10, 900, 11, 300, 12, 0]],
      ] as unknown as FilterSpecification,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': ['step', population, ['literal', [FONT.regular]], 20_000, ['literal', [FONT.bold]]],
        'text-size': [
          'interpolate',
          ['linear'],
          ['zoom'],
          7,
          ['step', population, 10 * scale, 8_000, 11.5 * scale, 60_000, 13.5 * scale],
          12,
          ['step', population, 12.5 * scale, 8_000, 15 * scale, 60_000, 19 * scale],
        ],
        // Above the middle of the town, where vans stand.
        'text-anchor': 'bottom',
        'text-offset': [0, -0.5],
        'text-padding': 4,
        'text-max-width': 8,
        'symbol-sort-key': ['-', 0, population],
      },
      paint: {
        'text-color': ['match', ['get', 'kind'], 'near', palette.labelFaint, palette.label],
        'text-halo-color': palette.halo,
        'text-halo-width': 1.6,
        'text-halo-blur': 0.4,
      },
    } as unknown as LayerSpecification,
  ]
}
