import type { GeoJSONSource, Map as MapLibre } from 'maplibre-gl'
import type { Move } from '../feed/batch-feed.ts'
import { drawIcon, drawPoint, ICON_RATIO, ICONS, POINT_ICONS } from './icons.ts'
import { lineFeatures, type MapLines, NO_LINES, pointFeatures, zoneFeatures } from './map-lines.ts'
import { Motion } from './motion.ts'
import { labelLayers, lineLayers, overlaySources } from './overlay.ts'
import { type Groups, groupZoom, NO_GROUPS, prepareGroups } from './prepare-groups.ts'
import { type Label, prepareLabels } from './prepare-labels.ts'
import type { Marker } from './prepare-markers.ts'
import { readColors, textScale } from './theme-colors.ts'
import { VanLayer } from './van-layer.ts'

/** Frames of gliding markers; more would only heat the machine. */
const FRAME_MS = 40
/** Names follow their vans so often: each time the whole map is drawn again. What somebody did is shown at once. */
const LABELS_EVERY_MS = 1_000
/** Where a frame comes so late, gliding would only queue up frames: markers are put in their places for a while. */
const LATE_FRAME_MS = 60
const NO_GLIDES_MS = 30_000
/** Of the newest frame in the mean of how late they come. */
const FRAME_WEIGHT = 0.2
/** More vans than this are put in their places: gliding would draw without a pause. */
const GLIDING_VANS_MAX = 1_000
const EQUATOR_KM = 40_075
const TILE_PX = 512
/** Batches that wait for a frame; a hidden page draws none. */
const BATCHES_KEPT = 50

/** Detail of the event `vansdrawn` of the map's element: which batches the frame that was just drawn holds. For measurements. */
export interface VansDrawn {
  readonly batches: readonly { readonly sentMs: number; readonly moves: readonly Move[] }[]
}

/** The fleet on a map: told markers, moves, a selection and lines, it draws them, and again after the map's style has changed. */
export class FleetDrawing {
  readonly #map: MapLibre
  readonly #still = window.matchMedia('(prefers-reduced-motion: reduce)')
  readonly #motion = new Motion()
  #layer: VanLayer | undefined
  #selected: string | null = null
  #hovered: string | null = null
  #grouping = true
  #groups: Groups = NO_GROUPS
  #groupsZoom = Number.NaN
  #labels: readonly Label[] = []
  #labelsText = ''
  #labelsMs = Number.NEGATIVE_INFINITY
  #lines: MapLines = NO_LINES
  #count = 0
  #frame: number | undefined
  #drawnMs = 0
  #lateMs = 0
  #glideAgainMs = 0
  #batches: VansDrawn['batches'][number][] = []

  constructor(map: MapLibre) {
    this.#map = map
    map.on('moveend', () => this.#draw(true))
    map.on('zoom', () => {
      if (groupZoom(map.getZoom()) === this.#groupsZoom) return
      this.#regroup()
      this.#draw(true)
    })
  }

  /** Where a van is drawn in the end; null when it is not. */
  placeOf(van: string): readonly [lon: number, lat: number] | null {
    const found = this.#motion.targets.find((marker) => marker.van === van)
    return found === undefined ? null : [found.lon, found.lat]
  }

  /** Adds sources and layers to a style that has just been loaded. */
  attach(): void {
    const { icons, overlay, points } = readColors()
    const scale = textScale()
    for (const icon of ICONS) if (!this.#map.hasImage(icon)) this.#map.addImage(icon, drawIcon(icon, icons), { pixelRatio: ICON_RATIO })
    for (const icon of POINT_ICONS)
      if (!this.#map.hasImage(`km0-point-${icon}`))
        this.#map.addImage(`km0-point-${icon}`, drawPoint(icon, points), { pixelRatio: ICON_RATIO })
    for (const [name, source] of Object.entries(overlaySources())) this.#map.addSource(name, source)
    for (const layer of lineLayers(overlay, scale)) this.#map.addLayer(layer)
    this.#layer = new VanLayer({ colors: icons, scale, onDrawn: () => this.#tellDrawn() })
    this.#map.addLayer(this.#layer)
    for (const layer of labelLayers(overlay, scale)) this.#map.addLayer(layer)
    this.setLines(this.#lines)
    this.#labelsText = ''
    this.#regroup()
    this.#draw(true)
  }

  /** The style is being replaced. */
  detach(): void {
    this.#layer = undefined
  }

  setMarkers(markers: readonly Marker[]): void {
    this.#count = markers.length
    const moving = this.#motion.setMarkers(markers, performance.now(), this.#visibleKm())
    this.#regroup()
    this.#show(moving)
  }

  move(moves: readonly Move[], sentMs: number): void {
    this.#batches.push({ sentMs, moves })
    if (this.#batches.length > BATCHES_KEPT) this.#batches.shift()
    const { moving, seen } = this.#motion.move(moves, performance.now(), this.#visibleKm(), this.#pixelKm())
    // Seen from afar a van moves less than a pixel a second: drawing the map for it ten times would only heat the machine.
    if (moving || seen) this.#show(moving)
  }

  forgetMoves(): void {
    this.#motion.forget()
  }

  setSelected(van: string | null): void {
    if (van === this.#selected) return
    this.#selected = van
    this.#regroup()
    this.#draw(true)
  }

  setHovered(van: string | null): void {
    if (van === this.#hovered) return
    this.#hovered = van
    this.#drawLabels(true)
  }

  setGrouping(grouping: boolean): void {
    if (grouping === this.#grouping) return
    this.#grouping = grouping
    this.#regroup()
    this.#draw(true)
  }

  setLines(lines: MapLines): void {
    const before = this.#lines
    this.#lines = lines
    if (this.#layer === undefined) return
    const all = lines === before
    if (all || lines.trail !== before.trail) this.#source('trail')?.setData(lineFeatures([lines.trail]))
    if (all || lines.backlog !== before.backlog) this.#source('backlog')?.setData(lineFeatures(lines.backlog))
    if (all || lines.trails !== before.trails) this.#source('trails')?.setData(lineFeatures(lines.trails))
    if (all || lines.zones !== before.zones) this.#source('zones')?.setData(zoneFeatures(lines.zones))
    if (all || lines.points !== before.points) this.#source('points')?.setData(pointFeatures(lines.points))
  }

  /** The van that is drawn nearest to a place, within so many pixels; one that needs somebody's eyes first. */
  vanAt(lon: number, lat: number, withinPx: number): string | null {
    const squash = Math.cos((lat * Math.PI) / 180)
    const degrees = (withinPx * 360) / (TILE_PX * 2 ** this.#map.getZoom())
    let best: { readonly van: string; readonly level: number; readonly distance: number } | null = null
    for (const { van, level, lon: vanLon, lat: vanLat } of this.#motion.frame(performance.now()).markers) {
      if (this.#groups.grouped.has(van)) continue
      const distance = Math.hypot(vanLon - lon, (vanLat - lat) / squash)
      if (distance > degrees || (best !== null && (level < best.level || (level === best.level && distance >= best.distance)))) continue
      best = { van, level, distance }
    }
    return best?.van ?? null
  }

  remove(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
  }

  #show(moving: boolean): void {
    if (!moving) this.#draw()
    else this.#animate()
  }

  #animate(): void {
    if (this.#frame !== undefined) return
    let askedMs = performance.now()
    const step = () => {
      this.#frame = undefined
      const nowMs = performance.now()
      this.#lateMs += (nowMs - askedMs - this.#lateMs) * FRAME_WEIGHT
      askedMs = nowMs
      if (this.#lateMs > LATE_FRAME_MS) {
        this.#glideAgainMs = nowMs + NO_GLIDES_MS
        this.#lateMs = 0
      }
      let moving = true
      if (nowMs - this.#drawnMs >= FRAME_MS) moving = this.#draw()
      if (moving) this.#frame = requestAnimationFrame(step)
    }
    this.#frame = requestAnimationFrame(step)
  }

  /** Draws this moment; true while markers are on their way. */
  #draw(namesAtOnce = false): boolean {
    const nowMs = performance.now()
    this.#drawnMs = nowMs
    const { markers, moving } = this.#motion.frame(nowMs)
    this.#layer?.set(this.#inOrder(markers))
    this.#drawLabels(namesAtOnce)
    return moving
  }

  /** Those that are drawn by themselves; the selected one lies on top. */
  #inOrder(markers: readonly Marker[]): Marker[] {
    const { grouped } = this.#groups
    const drawn = markers.filter((marker) => marker.van !== this.#selected && !grouped.has(marker.van))
    const selected = this.#selected === null ? undefined : markers.find((marker) => marker.van === this.#selected)
    if (selected !== undefined) drawn.push(selected)
    return drawn
  }

  /** Names stand where their vans arrive. */
  #drawLabels(atOnce: boolean): void {
    const nowMs = performance.now()
    if (this.#layer === undefined || (!atOnce && nowMs - this.#labelsMs < LABELS_EVERY_MS)) return
    const bounds = this.#map.getBounds()
    this.#labels = prepareLabels(this.#inOrder(this.#motion.targets), {
      selected: this.#selected,
      hovered: this.#hovered,
      zoom: this.#map.getZoom(),
      isInView: (lon, lat) => bounds.contains([lon, lat]),
    })
    const text = JSON.stringify(this.#labels)
    this.#labelsMs = nowMs
    if (text === this.#labelsText) return
    this.#labelsText = text
    this.#source('labels')?.setData({
      type: 'FeatureCollection',
      features: this.#labels.map(({ lon, lat, ...properties }) => ({
        type: 'Feature' as const,
        properties,
        geometry: { type: 'Point' as const, coordinates: [lon, lat] },
      })),
    })
  }

  #regroup(): void {
    this.#groupsZoom = groupZoom(this.#map.getZoom())
    const before = this.#groups
    this.#groups = this.#grouping ? prepareGroups(this.#motion.targets, this.#groupsZoom, this.#selected) : NO_GROUPS
    if (this.#layer === undefined || (before.groups.length === 0 && this.#groups.groups.length === 0)) return
    this.#source('groups')?.setData({
      type: 'FeatureCollection',
      features: this.#groups.groups.map(({ lon, lat, ...properties }) => ({
        type: 'Feature' as const,
        properties,
        geometry: { type: 'Point' as const, coordinates: [lon, lat] },
      })),
    })
  }

  /** A shorter step than this is not worth a glide. */
  #visibleKm(): number {
    const late = performance.now() < this.#glideAgainMs
    if (late || this.#still.matches || document.visibilityState !== 'visible' || this.#count > GLIDING_VANS_MAX)
      return Number.POSITIVE_INFINITY
    return this.#pixelKm()
  }

  #pixelKm(): number {
    const { lat } = this.#map.getCenter()
    return (EQUATOR_KM * Math.cos((lat * Math.PI) / 180)) / (TILE_PX * 2 ** this.#map.getZoom())
  }

  #tellDrawn(): void {
    if (this.#batches.length === 0) return
    const detail: VansDrawn = { batches: this.#batches }
    this.#batches = []
    this.#map.getContainer().dispatchEvent(new CustomEvent('vansdrawn', { detail, bubbles: true }))
  }

  #source(name: string): GeoJSONSource | undefined {
    return this.#map.getSource(`km0-${name}`) as GeoJSONSource | undefined
  }
}
