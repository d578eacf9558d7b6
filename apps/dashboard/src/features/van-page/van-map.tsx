'use client'

import { useTranslations } from 'next-intl'
import { type RefObject, useEffect, useMemo, useRef } from 'react'
import type { OwnMap } from '../map/own-map.ts'
import { placeAt, type Track } from '../playback/track-columns.ts'
import { usePlaceMap } from '../playback/use-place-map.ts'
import type { Theme } from '../shell/theme.ts'
import type { OddPoint } from './prepare-points.ts'
import type { SpanKind } from './prepare-timeline.ts'
import { boundsOf, linesOf, mapPoints, RECENT_MS, vanMarker } from './prepare-van-map.ts'
import styles from './van-page.module.css'

export interface VanMapProps {
  readonly van: string
  readonly name: string
  readonly track: Track
  readonly gapMs: number
  readonly points: readonly OddPoint[]
  readonly atMs: number
  readonly kindAt: (ms: number) => SpanKind
  readonly theme: Theme
  readonly ownMap: OwnMap
  /** Is given what draws a single frame while a day plays. */
  readonly onFrame: RefObject<((ms: number) => void) | null>
}

/** The track of the day, where the van was, and the points that live results miss. */
export default function VanMap(props: VanMapProps) {
  const t = useTranslations('map')
  const { van, name, track, gapMs, points, atMs, kindAt, theme, ownMap, onFrame } = props
  const { container, map, status } = usePlaceMap(theme, ownMap, () => undefined)
  const lines = useMemo(() => linesOf(track, gapMs), [track, gapMs])
  useEffect(() => map?.setLines('track', lines), [map, lines])
  useEffect(() => map?.setPoints(mapPoints(points)), [map, points])
  const fitted = useRef<string | null>(null)
  useEffect(() => {
    const bounds = boundsOf(track)
    const what = `${van}|${Math.floor((track.eventMs[0] ?? 0) / 86_400_000)}`
    if (map === null || bounds === null || fitted.current === what) return
    fitted.current = what
    map.fit(bounds)
  }, [map, track, van])
  useEffect(() => {
    const draw = (ms: number) => {
      const place = placeAt(track, ms, gapMs)
      map?.setMarkers(vanMarker(van, name, place, kindAt(ms)))
      return place
    }
    const place = draw(atMs)
    map?.setLines('recent', linesOf(track, gapMs, atMs - RECENT_MS, atMs))
    if (place !== null) map?.show(place.lon, place.lat)
    onFrame.current = draw
    return () => {
      onFrame.current = null
    }
  }, [map, track, gapMs, van, name, atMs, kindAt, onFrame])
  return (
    <div className={styles.map} data-status={status}>
      <div ref={container} className={styles.canvas} />
      {status === 'loading' && <p className={styles.notice}>{t('loading')}</p>}
      {status === 'failed' && (
        <p className={styles.notice} role="status">
          {t('failed')}. {t('failedHint')}
        </p>
      )}
    </div>
  )
}
