'use client'

import { useTranslations } from 'next-intl'
import { type RefObject, useEffect, useRef } from 'react'
import type { OwnMap } from '../map/own-map.ts'
import { usePlaceMap } from '../playback/use-place-map.ts'
import type { Theme } from '../shell/theme.ts'
import { type ReplayMoment, type ReplayVan, replayMarkers } from './prepare-replay.ts'
import styles from './replay.module.css'

/** Where everybody was, on the map. */
export default function ReplayMap(props: {
  readonly moment: ReplayMoment | null
  readonly momentAt: (ms: number) => ReplayMoment | null
  readonly selected: ReplayVan | null
  /** A number that changes when the selected van is to be brought into view. */
  readonly focus: number
  readonly theme: Theme
  readonly ownMap: OwnMap
  readonly onSelect: (van: string | null) => void
  /** Is given what draws a single frame while it plays. */
  readonly onFrame: RefObject<((ms: number) => void) | null>
}) {
  const t = useTranslations('map')
  const { moment, momentAt, selected, theme, ownMap, onFrame, focus } = props
  const { container, map, status } = usePlaceMap(theme, ownMap, props.onSelect)
  const name = selected?.van ?? null
  useEffect(() => {
    const draw = (shown: ReplayMoment) => {
      map?.setMarkers(replayMarkers(shown, name))
      const chosen = name === null ? undefined : shown.vans.find(({ van }) => van === name)
      map?.setChosen(
        chosen === undefined || chosen.lat === null || chosen.lon === null ? null : { lat: chosen.lat, lon: chosen.lon, name: chosen.name },
      )
    }
    if (moment !== null) draw(moment)
    onFrame.current = (ms) => {
      const next = momentAt(ms)
      if (next !== null) draw(next)
    }
    return () => {
      onFrame.current = null
    }
  }, [map, moment, momentAt, name, onFrame])
  const place = useRef(selected)
  place.current = selected
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view follows a choice, not every moment
  useEffect(() => {
    const { lat = null, lon = null } = place.current ?? {}
    if (lat !== null && lon !== null) map?.show(lon, lat)
  }, [map, name, focus])
  return (
    <div className={styles.map} data-status={status} data-dimmed={moment === null}>
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
