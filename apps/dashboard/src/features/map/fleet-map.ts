import { Map as MapLibre, type MapMouseEvent, NavigationControl, ScaleControl, type StyleSpecification, setWorkerUrl } from 'maplibre-gl'
import type { Move } from '../feed/batch-feed.ts'
import type { Theme } from '../shell/theme.ts'
import { FleetDrawing } from './fleet-drawing.ts'
import type { MapLines } from './map-lines.ts'
import { type OwnMap, ownTilesStyle } from './own-map.ts'
import { openOwnTiles } from './own-tiles.ts'
import type { Marker } from './prepare-markers.ts'
import { basemapStyle, fontFaces } from './style.ts'
import { textScale } from './theme-colors.ts'

// The worker is a file of its own; without this Turbopack's bundle looks for it in the wrong place and the map never loads.
setWorkerUrl(new URL('maplibre-gl/dist/maplibre-gl-worker.mjs', import.meta.url).href)

/** The province of Girona, where the fleet is at home. */
const HOME: [number, number, number, number] = [1.72, 41.64, 3.34, 42.5]
const BOUNDS: [number, number, number, number] = [-0.9, 40, 5.3, 43.7]
const SELECTED_ZOOM = 11
/** A finger is wider than a marker. */
const HIT_PX = 9
/** How much nearer a touched group is brought. */
const GROUP_ZOOM_STEP = 2
/** A phone. */
const NARROW_PX = 600
const FLY_MS = 700
/** A followed van that moves once a second is followed without a stop. */
const FOLLOW_MS = 900

/** What is in view. */
export interface Camera {
  readonly lon: number
  readonly lat: number
  readonly zoom: number
}

export interface FleetMapOptions {
  readonly container: HTMLElement
  readonly theme: Theme
  readonly own: OwnMap
  /** null: the whole province. */
  readonly camera: Camera | null
  readonly texts: { readonly zoomIn: string; readonly zoomOut: string; readonly map: string }
  readonly onSelect: (van: string | null) => void
  /** The view was moved, and stands. */
  readonly onCamera: (camera: Camera) => void
  /** Somebody moved the map away from the van that is followed. */
  readonly onFollowEnd: () => void
  readonly onReady: () => void
  readonly onFailed: () => void
}

/** The map: its style, its view, and what is touched on it. One instance a page; `remove` ends it. */
export class FleetMap {
  readonly #map: MapLibre
  readonly #drawing: FleetDrawing
  readonly #options: FleetMapOptions
  readonly #still = window.matchMedia('(prefers-reduced-motion: reduce)')
  #theme: Theme
  #ready = false
  #followed: string | null = null

  constructor(options: FleetMapOptions) {
    this.#options = options
    this.#theme = options.theme
    const { camera } = options
    openOwnTiles()
    this.#map = new MapLibre({
      container: options.container,
      style: { version: 8, sources: {}, layers: [] },
      ...(camera === null ? { bounds: HOME } : { center: [camera.lon, camera.lat], zoom: camera.zoom }),
      fitBoundsOptions: { padding: { top: 24, right: 24, bottom: 56, left: 24 } },
      ...(options.own.styleUrl === null ? { maxBounds: BOUNDS } : {}),
      minZoom: 6,
      maxZoom: 18,
      attributionControl: { compact: true },
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      // Each name that moves would fade for frames on end, and a frame is the whole map.
      fadeDuration: 0,
      locale: {
        'NavigationControl.ZoomIn': options.texts.zoomIn,
        'NavigationControl.ZoomOut': options.texts.zoomOut,
        'Map.Title': options.texts.map,
      },
    })
    this.#drawing = new FleetDrawing(this.#map)
    this.#map.touchZoomRotate.disableRotation()
    this.#map.addControl(new ScaleControl({ maxWidth: 90 }), 'bottom-right')
    this.#map.addControl(new NavigationControl({ showCompass: false }), 'bottom-right')
    if (options.container.clientWidth < NARROW_PX) this.#foldCredits()
    this.#listen()
    this.#setStyle()
  }

  setTheme(theme: Theme): void {
    if (theme === this.#theme) return
    this.#theme = theme
    this.#setStyle()
  }

  setMarkers(markers: readonly Marker[]): void {
    this.#drawing.setMarkers(markers)
    this.#keepUp(this.#followed)
  }

  moveVans(moves: readonly Move[], sentMs: number): void {
    this.#drawing.move(moves, sentMs)
    if (moves.some(({ van }) => van === this.#followed)) this.#keepUp(this.#followed)
  }

  forgetMoves(): void {
    this.#drawing.forgetMoves()
  }

  setSelected(van: string | null): void {
    this.#drawing.setSelected(van)
  }

  setGrouping(grouping: boolean): void {
    this.#drawing.setGrouping(grouping)
  }

  setLines(lines: MapLines): void {
    this.#drawing.setLines(lines)
  }

  /** Keeps a van in the middle until somebody moves the map; null ends it. */
  follow(van: string | null): void {
    this.#followed = van
    this.#keepUp(van)
  }

  flyTo(lon: number, lat: number): void {
    const zoom = Math.max(this.#map.getZoom(), SELECTED_ZOOM)
    this.#map.easeTo({ center: [lon, lat], zoom, duration: this.#still.matches ? 0 : FLY_MS })
  }

  /** Shows all of these. */
  fit(markers: readonly Marker[]): void {
    if (markers.length === 0) return
    let [west, south, east, north] = [180, 90, -180, -90]
    for (const { lon, lat } of markers) {
      west = Math.min(west, lon)
      east = Math.max(east, lon)
      south = Math.min(south, lat)
      north = Math.max(north, lat)
    }
    this.#map.fitBounds([west, south, east, north], { padding: 70, maxZoom: 12, duration: this.#still.matches ? 0 : FLY_MS })
  }

  resize(): void {
    this.#map.resize()
  }

  remove(): void {
    this.#drawing.remove()
    this.#map.remove()
  }

  #listen(): void {
    const options = this.#options
    this.#map.on('error', ({ error }) => {
      if (!this.#ready) options.onFailed()
      console.error(error)
    })
    this.#map.on('click', (event) => this.#touch(event))
    this.#map.on('mousemove', (event) => this.#hover(event))
    this.#map.on('style.load', () => this.#addOverlay())
    // Sources come back with a context that was lost, a layer of our own does not.
    this.#map.on('webglcontextrestored', () => this.#setStyle())
    this.#map.on('dragstart', () => {
      if (this.#followed !== null) options.onFollowEnd()
    })
    this.#map.on('moveend', () => {
      if (!this.#ready || this.#followed !== null) return
      const { lng, lat } = this.#map.getCenter()
      options.onCamera({ lon: lng, lat, zoom: this.#map.getZoom() })
    })
  }

  /** The credits open by themselves, over the map; where there is little room they wait for a touch. */
  #foldCredits(): void {
    this.#map.once('load', () =>
      this.#options.container.querySelector('.maplibregl-ctrl-attrib')?.classList.remove('maplibregl-compact-show'),
    )
  }

  #setStyle(): void {
    this.#ready = false
    this.#drawing.detach()
    const { origin } = window.location
    const { styleUrl, tilesUrl, attribution } = this.#options.own
    if (styleUrl === null) {
      const style = basemapStyle(this.#theme, origin, textScale())
      this.#map.setStyle(tilesUrl === null ? style : ownTilesStyle(style, this.#theme, tilesUrl, origin, attribution), { diff: false })
      return
    }
    // A customer's style knows nothing of the fonts that the vans' labels are written in.
    const withFonts = (_before: StyleSpecification | undefined, next: StyleSpecification) =>
      ({ ...next, 'font-faces': { ...(next as { 'font-faces'?: object })['font-faces'], ...fontFaces(origin) } }) as StyleSpecification
    this.#map.setStyle(styleUrl, { diff: false, transformStyle: withFonts })
  }

  #addOverlay(): void {
    if (this.#map.getSource('km0-labels') !== undefined || this.#map.getStyle().layers.length === 0) return
    try {
      this.#drawing.attach()
    } catch (error) {
      // The library would keep it to itself.
      console.error(error)
      this.#options.onFailed()
      return
    }
    this.#ready = true
    this.#options.onReady()
  }

  #keepUp(van: string | null): void {
    const place = van === null ? null : this.#drawing.placeOf(van)
    if (place === null) return
    const { lng, lat } = this.#map.getCenter()
    if (Math.abs(lng - place[0]) < 1e-7 && Math.abs(lat - place[1]) < 1e-7) return
    const zoom = Math.max(this.#map.getZoom(), SELECTED_ZOOM)
    this.#map.easeTo({ center: [place[0], place[1]], zoom, duration: this.#still.matches ? 0 : FOLLOW_MS, easing: (part) => part })
  }

  #touch(event: MapMouseEvent): void {
    if (!this.#ready) return
    const van = this.#vanAt(event)
    const [group] = van === null ? this.#map.queryRenderedFeatures(event.point, { layers: ['km0-group-discs'] }) : []
    if (group === undefined || group.geometry.type !== 'Point') {
      this.#options.onSelect(van)
      return
    }
    const [lon = event.lngLat.lng, lat = event.lngLat.lat] = group.geometry.coordinates
    const zoom = this.#map.getZoom() + GROUP_ZOOM_STEP
    this.#map.easeTo({ center: [lon, lat], zoom, duration: this.#still.matches ? 0 : FLY_MS })
  }

  #vanAt({ lngLat }: MapMouseEvent): string | null {
    return this.#ready ? this.#drawing.vanAt(lngLat.lng, lngLat.lat, HIT_PX) : null
  }

  #hover(event: MapMouseEvent): void {
    if (!this.#ready) return
    const van = this.#vanAt(event)
    const isGroup = van === null && this.#map.queryRenderedFeatures(event.point, { layers: ['km0-group-discs'] }).length > 0
    this.#map.getCanvas().style.cursor = van === null && !isGroup ? '' : 'pointer'
    this.#drawing.setHovered(van)
  }
}
