'use client'

import { madridDay } from '@km0/contracts/madrid'
import type { ReplayView } from '@km0/contracts/van-day-panel'
import dynamic from 'next/dynamic'
import { useTranslations } from 'next-intl'
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import { useTimes } from '../feed/use-times.ts'
import type { OwnMap } from '../map/own-map.ts'
import { useOperator } from '../operator/use-operator.ts'
import { usePlaceState } from '../playback/use-place-state.ts'
import { usePlayback } from '../playback/use-playback.ts'
import card from '../shell/card.module.css'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { HOUR_MS, prepareMoment, replayNames } from './prepare-replay.ts'
import styles from './replay.module.css'
import { ReplayControls } from './replay-controls.tsx'
import { ReplayList } from './replay-list.tsx'
import { addressOfReplay, type ReplayPlace, replayPlaceOf } from './replay-place.ts'
import { useReplayHour } from './use-replay-hour.ts'

const ReplayMap = dynamic(() => import('./replay-map.tsx'), { ssr: false })
const EVERY_MS = 60_000

/** Where was everyone on Tuesday at 16:00. */
export function ReplayApp(props: {
  readonly brand: ReactNode
  readonly theme: Theme
  readonly place: ReplayPlace
  readonly ownMap: OwnMap
}) {
  const t = useTranslations()
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [place, setPlace] = usePlaceState(props.place, addressOfReplay, replayPlaceOf)
  const [openedMs] = useState(() => Date.now())
  const atMs = place.atMs ?? openedMs - HOUR_MS
  const day = madridDay(atMs)
  const polled = usePolled<ReplayView>(`/api/replay?from=${day.startMs}&to=${day.endMs}`, () => EVERY_MS)
  const { nowMs } = polled
  const { hour, line, reason } = useReplayHour(atMs, nowMs)
  const view = polled.view
  const names = useMemo(() => (hour === null ? [] : replayNames(hour, view?.vans ?? [])), [hour, view])
  const momentAt = useCallback(
    (ms: number) => (hour === null || ms < hour.fromMs || ms >= hour.toMs ? null : prepareMoment(hour, ms, names, view?.outages ?? [])),
    [hour, names, view],
  )
  const moment = useMemo(() => momentAt(atMs), [momentAt, atMs])
  const seek = useCallback((ms: number) => setPlace({ ...place, atMs: Math.min(Math.max(0, ms), nowMs) }), [setPlace, place, nowMs])
  const [focus, setFocus] = useState(0)
  const select = useCallback(
    (van: string | null) => {
      setPlace({ ...place, atMs, van })
      setFocus((count) => count + 1)
    },
    [setPlace, place, atMs],
  )
  const frame = useRef<((ms: number) => void) | null>(null)
  const playback = usePlayback({ atMs, toMs: nowMs, onAt: seek, onFrame: (ms) => frame.current?.(ms) })
  const selected = moment?.vans.find(({ van }) => van === place.van) ?? null
  return (
    <div className={styles.app}>
      <SkipLink target="replay" />
      <PlainHeader brand={props.brand} page="replay" line={polled.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="replay" tabIndex={-1} aria-labelledby="replay-title">
        <div className={styles.left}>
          <section className={`${card.card} ${styles.mapCard}`} aria-label={t('replay.map')}>
            <ReplayMap
              moment={moment}
              momentAt={momentAt}
              selected={selected}
              focus={focus}
              theme={theme}
              ownMap={props.ownMap}
              onSelect={select}
              onFrame={frame}
            />
            {line !== 'ready' && <Absent line={line} reason={reason} />}
            {line === 'ready' && moment?.outage != null && <OutageNote outage={moment.outage} />}
          </section>
          <ReplayControls day={day} outages={view?.outages ?? []} atMs={atMs} nowMs={nowMs} line={line} playback={playback} onSeek={seek} />
        </div>
        <ReplayList moment={moment} atMs={atMs} selected={place.van} onSelect={select} />
      </main>
    </div>
  )
}

/** Instead of the fleet: that it is on its way, or why it cannot be had and what to do. */
function Absent({ line, reason }: { readonly line: 'loading' | 'ready' | 'failed'; readonly reason: string | null }) {
  const t = useTranslations('replay')
  return (
    <div className={styles.absent} role="status" data-line={line}>
      {line === 'loading' ? (
        <p>{t('loading')}</p>
      ) : (
        <>
          <strong>{t('failed')}</strong>
          <p lang={reason === null ? undefined : 'en'}>{reason ?? t('noAnswer')}</p>
        </>
      )}
    </div>
  )
}

function OutageNote({ outage }: { readonly outage: ReplayView['outages'][number] }) {
  const t = useTranslations('replay')
  const format = useTimes()
  const clock = (ms: number) => format.dateTime(ms, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  const times = { from: clock(outage.fromMs), to: clock(outage.toMs) }
  return (
    <p className={styles.outage} role="status">
      {outage.partitions === null ? t('outage', times) : t('outagePartly', { ...times, partitions: outage.partitions.join(', ') })}
    </p>
  )
}
