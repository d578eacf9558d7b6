'use client'

import { useTranslations } from 'next-intl'
import { useEffect, useRef, useState } from 'react'
import { StateIcon } from '../shell/state-icon.tsx'
import type { Theme } from '../shell/theme.ts'
import type { Van } from '../van/prepare-fleet.ts'
import { FleetMap } from './fleet-map.ts'
import styles from './map-view.module.css'
import { prepareMarkers } from './prepare-markers.ts'
import { useTrail } from './use-trail.ts'

export interface MapViewProps {
  readonly fleet: readonly Van[]
  readonly selected: Van | null
  /** A number that changes when the selected van is to be brought into view. */
  readonly focus: number
  readonly theme: Theme
  readonly styleUrl: string | null
  /** Nothing is known at the moment: what is drawn is old. */
  readonly dimmed: boolean
  readonly onSelect: (van: string | null) => void
}

type Status = 'loading' | 'ready' | 'failed'

export default function MapView(props: MapViewProps) {
  const t = useTranslations('map')
  const container = useRef<HTMLDivElement>(null)
  const map = useRef<FleetMap | null>(null)
  const onSelect = useRef(props.onSelect)
  onSelect.current = props.onSelect
  const [status, setStatus] = useState<Status>('loading')
  const { fleet, selected, theme, styleUrl, focus } = props
  const markers = prepareMarkers(fleet)
  const trail = useTrail(selected?.van ?? null, selected?.point ?? null)
  const texts = useRef({ zoomIn: t('zoomIn'), zoomOut: t('zoomOut'), map: t('title') })
  const firstTheme = useRef(theme)

  useEffect(() => {
    if (container.current === null) return
    let made: FleetMap
    try {
      made = new FleetMap({
        container: container.current,
        theme: firstTheme.current,
        styleUrl,
        texts: texts.current,
        onSelect: (van) => onSelect.current(van),
        onReady: () => setStatus('ready'),
        onFailed: () => setStatus('failed'),
      })
    } catch (error) {
      // No WebGL: the lists work all the same.
      console.error(error)
      setStatus('failed')
      return
    }
    map.current = made
    const watcher = new ResizeObserver(() => made.resize())
    watcher.observe(container.current)
    return () => {
      watcher.disconnect()
      map.current = null
      made.remove()
    }
  }, [styleUrl])

  useEffect(() => map.current?.setTheme(theme), [theme])
  useEffect(() => map.current?.setMarkers(markers))
  useEffect(() => map.current?.setSelected(selected?.van ?? null), [selected?.van])
  useEffect(() => map.current?.setTrail(trail), [trail])
  const point = useRef(selected?.point ?? null)
  point.current = selected?.point ?? null
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view follows a choice, not every new point
  useEffect(() => {
    if (point.current !== null) map.current?.flyTo(point.current.lon, point.current.lat)
  }, [selected?.van, focus])

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
      <button type="button" className={styles.fit} onClick={() => map.current?.fit(markers)} disabled={markers.length === 0}>
        {t('fitFleet')}
      </button>
      <ul className={styles.legend} aria-label={t('legend')}>
        <li>
          <StateIcon state="moving" /> {t('legendMoving')}
        </li>
        <li>
          <StateIcon state="stopped" /> {t('legendStopped')}
        </li>
        <li>
          <StateIcon state="provisional" /> {t('legendProvisional')}
        </li>
        <li>
          <StateIcon state="silent" /> {t('legendSilent')}
        </li>
        <li>
          <StateIcon state="moving" doubtful /> {t('legendDoubtful')}
        </li>
        {markers.some((marker) => marker.icon === 'unknown') && (
          <li>
            <StateIcon state="unknown" /> {t('legendUnknown')}
          </li>
        )}
      </ul>
    </div>
  )
}
