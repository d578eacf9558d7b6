'use client'

import { useTranslations } from 'next-intl'
import { useEffect, useMemo, useRef } from 'react'
import type { BatchFeed } from '../feed/batch-feed.ts'
import type { Theme } from '../shell/theme.ts'
import type { PlaceState } from '../shell/use-place.ts'
import type { Van } from '../van/prepare-fleet.ts'
import { MapLegend } from './map-legend.tsx'
import { MapMenu } from './map-menu.tsx'
import styles from './map-view.module.css'
import type { OwnMap } from './own-map.ts'
import { PointsNote } from './points-note.tsx'
import { isShown } from './prepare-filter.ts'
import { prepareMarkers } from './prepare-markers.ts'
import { useFleetMap } from './use-fleet-map.ts'
import { useMapLines } from './use-map-lines.ts'

export interface MapViewProps {
  readonly fleet: readonly Van[]
  readonly selected: Van | null
  readonly state: PlaceState
  readonly batches: BatchFeed
  readonly theme: Theme
  readonly own: OwnMap
  /** Nothing is known at the moment: what is drawn is old. */
  readonly dimmed: boolean
  /** A snapshot has come: a fleet that is not there is none. */
  readonly known: boolean
  readonly onSelect: (van: string | null) => void
}

export default function MapView(props: MapViewProps) {
  const t = useTranslations('map')
  const container = useRef<HTMLDivElement>(null)
  const { fleet, selected, theme } = props
  const { place, focus, go } = props.state
  const texts = useRef({ zoomIn: t('zoomIn'), zoomOut: t('zoomOut'), map: t('title') })
  const { map, status } = useFleetMap(container, {
    theme,
    own: props.own,
    camera: place.camera,
    batches: props.batches,
    texts: texts.current,
    onSelect: props.onSelect,
    onCamera: (camera) => go({ camera }),
    onFollowEnd: () => go({ follow: false }),
  })
  const markers = useMemo(() => prepareMarkers(fleet.filter((van) => van.van === place.van || isShown(van, place))), [fleet, place])
  const { lines, recent, zonesLine } = useMapLines(selected?.van ?? null, selected?.point ?? null, place.layers)

  useEffect(() => map.current?.setTheme(theme), [map, theme])
  useEffect(() => map.current?.setMarkers(markers), [map, markers])
  useEffect(() => map.current?.setSelected(selected?.van ?? null), [map, selected?.van])
  useEffect(() => map.current?.setLines(lines), [map, lines])
  useEffect(() => map.current?.setGrouping(!place.layers.includes('singles')), [map, place.layers])
  const point = useRef(selected?.point ?? null)
  point.current = selected?.point ?? null
  // A link that says what is in view is taken at its word.
  const flown = useRef(place.camera === null ? -1 : focus)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the van of a link is known only with the first snapshot
  useEffect(() => {
    if (point.current === null || flown.current === focus) return
    flown.current = focus
    map.current?.flyTo(point.current.lon, point.current.lat)
  }, [map, selected?.van, focus])
  const followed = place.follow ? (selected?.van ?? null) : null
  useEffect(() => map.current?.follow(followed), [map, followed])

  const filtered = place.hidden.length > 0 || place.depot !== null
  return (
    <div className={styles.view} data-dimmed={props.dimmed} data-selected={selected !== null} data-status={status}>
      <div ref={container} className={styles.canvas} />
      {status === 'loading' && <p className={styles.notice}>{t('loading')}</p>}
      {status === 'failed' && (
        <div className={styles.notice} role="status">
          <strong>{t('failed')}</strong>
          <span>{t('failedHint')}</span>
        </div>
      )}
      {status === 'ready' && props.known && markers.length === 0 && (
        <div className={styles.notice} role="status">
          <strong>{filtered ? t('emptyFilter') : t('emptyTitle')}</strong>
          {!filtered && <span>{t('empty')}</span>}
        </div>
      )}
      <div className={styles.tools}>
        <button type="button" onClick={() => map.current?.fit(markers)} disabled={markers.length === 0}>
          {filtered ? t('fitShown', { count: markers.length }) : t('fitFleet')}
        </button>
        <MapMenu
          fleet={fleet}
          place={place}
          go={go}
          zones={zonesLine === 'failed' ? 'failed' : zonesLine === 'loading' ? null : lines.zones.length}
        />
      </div>
      {place.layers.includes('points') && <PointsNote recent={recent} van={selected} />}
      <MapLegend markers={markers} place={place} go={go} />
    </div>
  )
}
