'use client'

import type { BackfillTrackView } from '@km0/contracts/backfill-panel'
import { type GeoJSONSource, LngLatBounds, Map as MapLibre, setWorkerUrl } from 'maplibre-gl'
import { useEffect, useRef } from 'react'
import { basemapStyle } from '../map/style.ts'
import { textScale } from '../map/theme-colors.ts'
import type { Theme } from '../shell/theme.ts'
import styles from './backfills.module.css'
import { type TrackShapes, trackShapes } from './prepare-track.ts'

// The worker is a file of its own; without this Turbopack's bundle looks for it in the wrong place and the map never loads.
setWorkerUrl(new URL('maplibre-gl/dist/maplibre-gl-worker.mjs', import.meta.url).href)

/** The old track under the new one; points that come late are dots. */
export default function TrackMap({ track, theme }: { readonly track: BackfillTrackView; readonly theme: Theme }) {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (container.current === null) return
    const shapes = trackShapes(track)
    let map: MapLibre
    try {
      map = new MapLibre({
        container: container.current,
        style: basemapStyle(theme, window.location.origin, textScale()),
        attributionControl: { compact: true },
        ...(shapes.bounds === null ? {} : { bounds: new LngLatBounds(shapes.bounds), fitBoundsOptions: { padding: 32, maxZoom: 14 } }),
        dragRotate: false,
        fadeDuration: 0,
      })
    } catch (error) {
      // No WebGL: the table says it in figures.
      console.error(error)
      return
    }
    map.on('load', () => draw(map, shapes))
    return () => map.remove()
  }, [track, theme])
  return <div ref={container} className={styles.trackMap} />
}

function draw(map: MapLibre, shapes: TrackShapes): void {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  for (const name of ['after', 'before', 'late'] as const) map.addSource(name, { type: 'geojson', data: shapes[name] })
  map.addLayer({ id: 'after', type: 'line', source: 'after', paint: { 'line-color': colour('--accent'), 'line-width': 4 } })
  map.addLayer({
    id: 'before',
    type: 'line',
    source: 'before',
    paint: { 'line-color': colour('--text'), 'line-width': 1.5, 'line-dasharray': [2, 2] },
  })
  map.addLayer({
    id: 'late',
    type: 'circle',
    source: 'late',
    paint: {
      'circle-radius': 3,
      'circle-color': colour('--episode'),
      'circle-stroke-width': 1,
      'circle-stroke-color': colour('--surface'),
    },
  })
  const source: GeoJSONSource | undefined = map.getSource('after')
  if (source !== undefined) map.getContainer().dataset.drawn = 'true'
}
