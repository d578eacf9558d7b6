'use client'

import type { VanDayView } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import { type ReactNode, useCallback } from 'react'
import type { OwnMap } from '../map/own-map.ts'
import { useOperator } from '../operator/use-operator.ts'
import { usePlaceState } from '../playback/use-place-state.ts'
import { EmptyState, LoadingRows } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { VanDay } from './van-day.tsx'
import styles from './van-page.module.css'
import { addressOfVanPage, type VanPagePlace, vanPagePlaceOf } from './van-page-place.ts'

const OVER_EVERY_MS = 60_000
const LIVE_EVERY_MS = 5_000
/** While somebody looks at a window that waits to be closed. */
const WINDOW_EVERY_MS = 2_000

/** One van on one day. */
export function VanPageApp(props: {
  readonly brand: ReactNode
  readonly theme: Theme
  readonly place: VanPagePlace
  readonly ownMap: OwnMap
}) {
  const t = useTranslations()
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [place, setPlace] = usePlaceState(props.place, addressOfVanPage, vanPagePlaceOf)
  const chosenEndMs = place.windowEndMs ?? null
  const go = useCallback(
    ({ windowEndMs: _, ...next }: VanPagePlace) =>
      // The window that is asked about is of its day.
      setPlace(next.day === place.day && place.windowEndMs !== undefined ? { ...next, windowEndMs: place.windowEndMs } : next),
    [setPlace, place],
  )
  const chooseWindow = ({ windowEndMs: _, ...now }: VanPagePlace, endMs: number | null) =>
    setPlace(endMs === null ? now : { ...now, windowEndMs: endMs })
  const query = new URLSearchParams({ van: place.van ?? '', ...(place.day === null ? {} : { day: place.day }) })
  const every = (view: VanDayView | null) =>
    view !== null && view.day.endMs <= view.nowMs ? OVER_EVERY_MS : chosenEndMs === null ? LIVE_EVERY_MS : WINDOW_EVERY_MS
  const polled = usePolled<VanDayView>(place.van === null ? null : `/api/van-day?${query}`, every)
  return (
    <div className={styles.app}>
      <SkipLink target="day" />
      <PlainHeader brand={props.brand} page="days" line={polled.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="day" tabIndex={-1} aria-label={t('vanPage.title')}>
        {place.van === null && <EmptyState kind="waiting" title={t('vanPage.which')} hint={t('vanPage.whichHint')} />}
        {place.van !== null && polled.line === 'loading' && <LoadingRows rows={8} />}
        {polled.line === 'failed' && (
          <EmptyState
            kind="error"
            title={polled.reason === null ? t('error.title') : t('vanPage.nothing', { van: place.van ?? '' })}
            hint={polled.reason ?? t('error.hint')}
          />
        )}
        {polled.view !== null && (
          <VanDay
            key={`${polled.view.van.van}|${polled.view.day.startMs}`}
            view={polled.view}
            nowMs={polled.nowMs}
            isStale={polled.line === 'stale'}
            place={place}
            onPlace={go}
            theme={theme}
            ownMap={props.ownMap}
            chosenEndMs={chosenEndMs}
            onWindow={(endMs) => chooseWindow(place, endMs)}
          />
        )}
      </main>
    </div>
  )
}
