import { type GeoJSONSource, type LayerSpecification, Map as MapLibre, NavigationControl, setWorkerUrl } from 'maplibre-gl'
import { type OwnMap, ownTilesStyle } from '../map/own-map.ts'
import { openOwnTiles } from '../map/own-tiles.ts'
import type { Marker } from '../map/prepare-markers.ts'
import { basemapStyle, fontFaces } from '../map/style.ts'
import { readColors, textScale } from '../map/theme-colors.ts'
import { VanLayer } from '../map/van-layer.ts'
import type { Theme } from '../shell/theme.ts'

// The worker is a file of its own; without this Turbopack's bundle looks for it in the wrong place and the map never loads.
setWorkerUrl(new URL('maplibre-gl/dist/maplibre-gl-worker.mjs', import.meta.url).href)

/** The province of Girona, where the fleet is at home. */
const HOME: [number, number, number, number] = [1.72, 41.64, 3.34, 42.5]
const HIT_PX = 14
const EMPTY = { type: 'FeatureCollection' as const, features: [] }
const SOURCES = ['track', 'recent', 'odd', 'chosen'] as const
type SourceName = (typeof SOURCES)[number]

/** A point that is drawn by itself. */
export interface MapPoint {
  readonly lon: number
  readonly lat: number
  readonly kind: 'late' | 'refused' | 'guess'
}

export interface PlaceMapOptions {
  readonly container: HTMLElement
  readonly theme: Theme
  /** What a customer brings to the map. */
  readonly own: OwnMap
  readonly texts: { readonly zoomIn: string; readonly zoomOut: string; readonly map: string }
  readonly onPick: (van: string | null) => void
  readonly onReady: () => void
  readonly onFailed: () => void
}

/** A map of what was: a track, points by themselves, and vans at a moment. It draws what it is told; `remove` ends it. */
export class PlaceMap {
  readonly #map: MapLibre
  readonly #options: PlaceMapOptions
  readonly #data = new Map<SourceName, Parameters<GeoJSONSource['setData']>[0]>()
  readonly #still = window.matchMedia('(prefers-reduced-motion: reduce)')
  #vans: VanLayer | null = null
  #markers: readonly Marker[] = []
  #theme: Theme

  constructor(options: PlaceMapOptions) {
    this.#options = options
    this.#theme = options.theme
    openOwnTiles()
    this.#map = new MapLibre({
      container: options.container,
      style: { version: 8, sources: {}, layers: [] },
      bounds: HOME,
      maxZoom: 17,
      minZoom: 5,
      attributionControl: { compact: true },
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      fadeDuration: 0,
      locale: {
        'NavigationControl.ZoomIn': options.texts.zoomIn,
        'NavigationControl.ZoomOut': options.texts.zoomOut,
        'Map.Title': options.texts.map,
      },
    })
    this.#map.touchZoomRotate.disableRotation()
    this.#map.addControl(new NavigationControl({ showCompass: false }), 'bottom-right')
    let isReady = false
    this.#map.on('error', ({ error }) => {
      if (!isReady) options.onFailed()
      console.error(error)
    })
    this.#map.on('style.load', () => {
      if (this.#map.getStyle().layers.length === 0) return
      this.#addLayers()
      isReady = true
      options.onReady()
    })
    this.#map.on('click', ({ point }) => options.onPick(this.#vanAt(point.x, point.y)))
    this.#setStyle()
  }

  setTheme(theme: Theme): void {
    if (theme === this.#theme) return
    this.#theme = theme
    this.#setStyle()
  }

  /** Lines of `[lon, lat]`. `recent` is drawn over `track`. */
  setLines(name: 'track' | 'recent', lines: readonly (readonly (readonly [number, number])[])[]): void {
    const coordinates = lines.filter((line) => line.length > 1).map((line) => line.map(([lon, lat]) => [lon, lat]))
    this.#set(name, { type: 'Feature', properties: {}, geometry: { type: 'MultiLineString', coordinates } })
  }

  setPoints(points: readonly MapPoint[]): void {
    const features = points.map(({ lon, lat, kind }) => ({
      type: 'Feature' as const,
      properties: { kind },
      geometry: { type: 'Point' as const, coordinates: [lon, lat] },
    }))
    this.#set('odd', { type: 'FeatureCollection', features })
  }

  /** A ring with a name around a place; null: none. */
  setChosen(chosen: { readonly lon: number; readonly lat: number; readonly name: string } | null): void {
    if (chosen === null) {
      this.#set('chosen', EMPTY)
      return
    }
    const geometry = { type: 'Point' as const, coordinates: [chosen.lon, chosen.lat] }
    this.#set('chosen', { type: 'Feature', properties: { name: chosen.name }, geometry })
  }

  setMarkers(markers: readonly Marker[]): void {
    this.#markers = markers
    this.#vans?.set(markers)
  }

  /** West, south, east, north. */
  fit(bounds: readonly [number, number, number, number]): void {
    this.#map.fitBounds([...bounds], { padding: 48, maxZoom: 14, duration: this.#still.matches ? 0 : 500 })
  }

  /** Brings a place into view when it is not. */
  show(lon: number, lat: number): void {
    if (!this.#map.getBounds().contains([lon, lat])) this.#map.easeTo({ center: [lon, lat], duration: this.#still.matches ? 0 : 400 })
  }

  resize(): void {
    this.#map.resize()
  }

  remove(): void {
    this.#map.remove()
  }

  #setStyle(): void {
    const { styleUrl, tilesUrl, attribution } = this.#options.own
    const { origin } = window.location
    if (styleUrl === null) {
      const style = basemapStyle(this.#theme, origin, textScale())
      this.#map.setStyle(tilesUrl === null ? style : ownTilesStyle(style, this.#theme, tilesUrl, origin, attribution), { diff: false })
      return
    }
    // A customer's style knows nothing of the fonts that our labels are written in.
    this.#map.setStyle(styleUrl, {
      diff: false,
      transformStyle: (_before, next) =>
        ({ ...next, 'font-faces': { ...(next as { 'font-faces'?: object })['font-faces'], ...fontFaces(origin) } }) as typeof next,
    })
  }

  #addLayers(): void {
    for (const name of SOURCES) {
      if (this.#map.getSource(name) === undefined) this.#map.addSource(name, { type: 'geojson', data: this.#data.get(name) ?? EMPTY })
    }
    for (const layer of layersOf(textScale())) if (this.#map.getLayer(layer.id) === undefined) this.#map.addLayer(layer)
    this.#vans = new VanLayer({ colors: readColors().icons, scale: textScale(), onDrawn: () => undefined })
    this.#map.addLayer(this.#vans, 'chosen-ring')
    this.#vans.set(this.#markers)
    this.#options.container.dataset.drawn = 'true'
  }

  #set(name: SourceName, data: Parameters<GeoJSONSource['setData']>[0]): void {
    this.#data.set(name, data)
    ;(this.#map.getSource(name) as GeoJSONSource | undefined)?.setData(data)
  }

  #vanAt(x: number, y: number): string | null {
    let [found, least]: [string | null, number] = [null, HIT_PX]
    for (const { van, lon, lat } of this.#markers) {
      const at = this.#map.project([lon, lat])
      const away = Math.hypot(at.x - x, at.y - y)
      if (away <= least) [found, least] = [van, away]
    }
    return found
  }
}

function layersOf(scale: number): LayerSpecification[] {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const round = { 'line-cap': 'round', 'line-join': 'round' } as const
  const kindOf = (late: string, refused: string) => ['match', ['get', 'kind'], 'late', late, refused] as unknown as string
  return [
    { id: 'track', type: 'line', source: 'track', layout: round, paint: { 'line-color': colour('--text-faint'), 'line-width': 2.2 } },
    { id: 'recent-casing', type: 'line', source: 'recent', layout: round, paint: { 'line-color': colour('--surface'), 'line-width': 7 } },
    { id: 'recent', type: 'line', source: 'recent', layout: round, paint: { 'line-color': colour('--accent'), 'line-width': 4 } },
    {
      id: 'odd',
      type: 'circle',
      source: 'odd',
      paint: {
        'circle-radius': 4.5,
        // A place that is guessed is hollow.
        'circle-color': ['match', ['get', 'kind'], 'late', colour('--episode'), 'refused', colour('--silent'), 'rgba(0,0,0,0)'],
        'circle-stroke-width': 1.8,
        'circle-stroke-color': kindOf(colour('--surface'), colour('--silent')),
      },
    },
    {
      id: 'chosen-ring',
      type: 'circle',
      source: 'chosen',
      paint: {
        'circle-radius': 17 * scale,
        'circle-color': 'rgba(0,0,0,0)',
        'circle-stroke-width': 2.4,
        'circle-stroke-color': colour('--text'),
      },
    },
    {
      id: 'chosen-name',
      type: 'symbol',
      source: 'chosen',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': ['Inter SemiBold'],
        'text-size': 13 * scale,
        'text-anchor': 'bottom',
        'text-offset': [0, -1.6],
        'text-allow-overlap': true,
      },
      paint: { 'text-color': colour('--text'), 'text-halo-color': colour('--surface'), 'text-halo-width': 1.8 },
    },
  ]
}
