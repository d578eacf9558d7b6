import {
  type GeoJSONSource,
  Map as MapLibre,
  type MapMouseEvent,
  NavigationControl,
  ScaleControl,
  type StyleSpecification,
  setWorkerUrl,
} from 'maplibre-gl'
import type { Theme } from '../shell/theme.ts'
import { drawIcon, ICON_RATIO, ICONS } from './icons.ts'
import { Motion } from './motion.ts'
import { EMPTY, overlayLayers, overlaySources, VAN_LAYERS } from './overlay.ts'
import type { Marker } from './prepare-markers.ts'
import { basemapStyle, fontFaces } from './style.ts'
import { readColors, textScale } from './theme-colors.ts'

// The worker is a file of its own; without this Turbopack's bundle looks for it in the wrong place and the map never loads.
setWorkerUrl(new URL('maplibre-gl/dist/maplibre-gl-worker.mjs', import.meta.url).href)

/** The province of Girona, where the fleet is at home. */
const HOME: [number, number, number, number] = [1.72, 41.64, 3.34, 42.5]
const BOUNDS: [number, number, number, number] = [-0.9, 40, 5.3, 43.7]
const SELECTED_ZOOM = 11
/** A finger is wider than a marker. */
const HIT_PX = 9
const EQUATOR_KM = 40_075
const TILE_PX = 512
/** A phone. */
const NARROW_PX = 600
/** Frames of gliding markers; more would only heat the machine. */
const FRAME_MS = 40

export interface FleetMapOptions {
  readonly container: HTMLElement
  readonly theme: Theme
  readonly styleUrl: string | null
  readonly texts: { readonly zoomIn: string; readonly zoomOut: string; readonly map: string }
  readonly onSelect: (van: string | null) => void
  readonly onReady: () => void
  readonly onFailed: () => void
}

/** The map and the layers of the fleet: told markers, a trail and a selection, it draws them. One instance a page; `remove` ends it. */
export class FleetMap {
  readonly #map: MapLibre
  readonly #options: FleetMapOptions
  readonly #motion = new Motion()
  readonly #still = window.matchMedia('(prefers-reduced-motion: reduce)')
  #theme: Theme
  #ready = false
  #selected: string | null = null
  #trail: readonly (readonly [number, number, number])[] = []
  #frame: number | undefined
  #drawnMs = 0

  constructor(options: FleetMapOptions) {
    this.#options = options
    this.#theme = options.theme
    this.#map = new MapLibre({
      container: options.container,
      style: { version: 8, sources: {}, layers: [] },
      bounds: HOME,
      fitBoundsOptions: { padding: { top: 24, right: 24, bottom: 56, left: 24 } },
      ...(options.styleUrl === null ? { maxBounds: BOUNDS } : {}),
      minZoom: 6,
      maxZoom: 17,
      attributionControl: { compact: true },
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      fadeDuration: 120,
      locale: {
        'NavigationControl.ZoomIn': options.texts.zoomIn,
        'NavigationControl.ZoomOut': options.texts.zoomOut,
        'Map.Title': options.texts.map,
      },
    })
    this.#map.touchZoomRotate.disableRotation()
    this.#map.addControl(new ScaleControl({ maxWidth: 90 }), 'bottom-right')
    this.#map.addControl(new NavigationControl({ showCompass: false }), 'bottom-right')
    if (options.container.clientWidth < NARROW_PX) this.#foldCredits()
    this.#map.on('error', ({ error }) => {
      if (!this.#ready) options.onFailed()
      console.error(error)
    })
    this.#map.on('click', (event) => options.onSelect(this.#vanAt(event)))
    this.#map.on('mousemove', (event) => this.#hover(event))
    this.#map.on('style.load', () => this.#addOverlay())
    this.#setStyle()
  }

  setTheme(theme: Theme): void {
    if (theme === this.#theme) return
    this.#theme = theme
    this.#setStyle()
  }

  setMarkers(markers: readonly Marker[]): void {
    const glides = !this.#still.matches && document.visibilityState === 'visible'
    const moving = this.#motion.setMarkers(markers, performance.now(), glides ? this.#kilometresPerPixel() : Number.POSITIVE_INFINITY)
    if (!moving) this.#draw()
    else this.#animate()
  }

  /** Selects a van; `fly` brings it into view. */
  setSelected(van: string | null): void {
    this.#selected = van
    this.#filterSelected()
  }

  setTrail(points: readonly (readonly [number, number, number])[]): void {
    this.#trail = points
    if (!this.#ready) return
    const coordinates = points.map(([lon, lat]) => [lon, lat])
    const feature = { type: 'Feature' as const, properties: {}, geometry: { type: 'LineString' as const, coordinates } }
    this.#source('trail')?.setData(coordinates.length < 2 ? EMPTY : feature)
  }

  flyTo(lon: number, lat: number): void {
    const zoom = Math.max(this.#map.getZoom(), SELECTED_ZOOM)
    this.#map.easeTo({ center: [lon, lat], zoom, duration: this.#still.matches ? 0 : 700 })
  }

  /** Shows all markers. */
  fit(markers: readonly Marker[]): void {
    const first = markers[0]
    if (first === undefined) return
    const lons = markers.map((marker) => marker.lon)
    const lats = markers.map((marker) => marker.lat)
    const box: [number, number, number, number] = [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)]
    this.#map.fitBounds(box, { padding: 70, maxZoom: 12, duration: this.#still.matches ? 0 : 700 })
  }

  resize(): void {
    this.#map.resize()
  }

  remove(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#map.remove()
  }

  /** The credits open by themselves, over the map; where there is little room they wait for a touch. */
  #foldCredits(): void {
    this.#map.once('load', () =>
      this.#options.container.querySelector('.maplibregl-ctrl-attrib')?.classList.remove('maplibregl-compact-show'),
    )
  }

  #setStyle(): void {
    this.#ready = false
    const { origin } = window.location
    const { styleUrl } = this.#options
    if (styleUrl === null) {
      this.#map.setStyle(basemapStyle(this.#theme, origin, textScale()), { diff: false })
      return
    }
    // A customer's style knows nothing of the fonts that the vans' labels are written in.
    const withFonts = (_before: StyleSpecification | undefined, next: StyleSpecification) =>
      ({ ...next, 'font-faces': { ...(next as { 'font-faces'?: object })['font-faces'], ...fontFaces(origin) } }) as StyleSpecification
    this.#map.setStyle(styleUrl, { diff: false, transformStyle: withFonts })
  }

  #addOverlay(): void {
    if (this.#map.getSource('vans') !== undefined || this.#map.getStyle().layers.length === 0) return
    const { icons, overlay } = readColors()
    for (const icon of ICONS) if (!this.#map.hasImage(icon)) this.#map.addImage(icon, drawIcon(icon, icons), { pixelRatio: ICON_RATIO })
    for (const [name, source] of Object.entries(overlaySources())) this.#map.addSource(name, source)
    for (const layer of overlayLayers(overlay, textScale())) this.#map.addLayer(layer)
    this.#ready = true
    this.#filterSelected()
    this.setTrail(this.#trail)
    this.#draw()
    this.#options.onReady()
  }

  #filterSelected(): void {
    if (!this.#ready) return
    for (const layer of ['van-selected', 'selected-ring']) this.#map.setFilter(layer, ['==', ['get', 'van'], this.#selected ?? ''])
  }

  #animate(): void {
    if (this.#frame !== undefined) return
    const step = (nowMs: number) => {
      this.#frame = undefined
      let moving = true
      if (nowMs - this.#drawnMs >= FRAME_MS) moving = this.#draw()
      if (moving) this.#frame = requestAnimationFrame(step)
    }
    this.#frame = requestAnimationFrame(step)
  }

  /** Draws this moment; true while markers are on their way. */
  #draw(): boolean {
    const nowMs = performance.now()
    this.#drawnMs = nowMs
    const { markers, moving } = this.#motion.frame(nowMs)
    const source = this.#source('vans')
    // While the worker is still at the last frame another one would only put it off; the markers of a moment ago are not worth that.
    if (moving && source !== undefined && !this.#map.isSourceLoaded('vans')) return true
    if (this.#ready) source?.setData({ type: 'FeatureCollection', features: markers.map(featureOf) })
    return moving
  }

  #kilometresPerPixel(): number {
    const { lat } = this.#map.getCenter()
    return (EQUATOR_KM * Math.cos((lat * Math.PI) / 180)) / (TILE_PX * 2 ** this.#map.getZoom())
  }

  #source(name: string): GeoJSONSource | undefined {
    return this.#map.getSource(name) as GeoJSONSource | undefined
  }

  #vanAt(event: MapMouseEvent): string | null {
    if (!this.#ready) return null
    const { x, y } = event.point
    const layers = [...VAN_LAYERS]
    const found = this.#map.queryRenderedFeatures(
      [
        [x - HIT_PX, y - HIT_PX],
        [x + HIT_PX, y + HIT_PX],
      ],
      { layers },
    )
    return (found[0]?.properties.van as string | undefined) ?? null
  }

  #hover(event: MapMouseEvent): void {
    if (!this.#ready) return
    const van = this.#vanAt(event)
    this.#map.getCanvas().style.cursor = van === null ? '' : 'pointer'
    this.#map.setFilter('van-hovered', ['==', ['get', 'van'], van ?? ''])
  }
}

function featureOf(marker: Marker) {
  return {
    type: 'Feature' as const,
    properties: {
      van: marker.van,
      icon: marker.icon,
      heading: marker.icon.endsWith('moving') ? marker.headingDegrees : 0,
      label: marker.label,
      age: marker.age,
      level: marker.level,
    },
    geometry: { type: 'Point' as const, coordinates: [marker.lon, marker.lat] },
  }
}
