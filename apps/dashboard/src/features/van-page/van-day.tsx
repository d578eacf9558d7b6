'use client'

import { madridDate } from '@km0/contracts/madrid'
import type { VanDayView } from '@km0/contracts/van-day-panel'
import dynamic from 'next/dynamic'
import { useTranslations } from 'next-intl'
import { useCallback, useMemo, useRef } from 'react'
import { FileLinks } from '../data-out/file-links.tsx'
import { csvFile, fileName } from '../data-out/table-files.ts'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import type { OwnMap } from '../map/own-map.ts'
import { Moment, Player } from '../playback/player.tsx'
import { usePlayback } from '../playback/use-playback.ts'
import card from '../shell/card.module.css'
import type { Theme } from '../shell/theme.ts'
import { DayBar } from './day-bar.tsx'
import { ClockCard, PointsCard, TotalsCard } from './day-cards.tsx'
import { LakeNotice } from './lake-notice.tsx'
import { prepareClock } from './prepare-clock.ts'
import { windowsTable } from './prepare-files.ts'
import { preparePoints } from './prepare-points.ts'
import { prepareTimeline, type SpanKind } from './prepare-timeline.ts'
import { speedAt } from './prepare-van-map.ts'
import { prepareWindows } from './prepare-windows.ts'
import { Timeline } from './timeline.tsx'
import { useVanTrack } from './use-van-track.ts'
import styles from './van-page.module.css'
import type { VanPagePlace } from './van-page-place.ts'
import { WhyCard } from './why-card.tsx'

const VanMap = dynamic(() => import('./van-map.tsx'), { ssr: false })
const WindowsChart = dynamic(() => import('./windows-chart.tsx'), { ssr: false })
const STEP_MS = 600_000
const REDRAWN_MS = 10_000
const NONE = { late: [], refused: [] } as const

export interface VanDayProps {
  readonly view: VanDayView
  /** Time of the platform. */
  readonly nowMs: number
  readonly isStale: boolean
  readonly place: VanPagePlace
  readonly onPlace: (place: VanPagePlace) => void
  readonly theme: Theme
  readonly ownMap: OwnMap
  readonly chosenEndMs: number | null
  readonly onWindow: (endMs: number | null) => void
}

/** The day of a van: map, timeline with its slider, windows, and beside them what is odd. */
export function VanDay(props: VanDayProps) {
  const t = useTranslations('vanPage')
  const { view, nowMs, place, onPlace } = props
  const day = madridDate(view.day.startMs)
  const goesOn = view.day.endMs > nowMs
  const { track, header, line, reason } = useVanTrack(view.van.van, day, goesOn, view.live)
  const untilMs = Math.min(view.day.endMs, nowMs)
  // By the second there is nothing new in it.
  const drawnUntilMs = Math.min(view.day.endMs, Math.ceil(nowMs / REDRAWN_MS) * REDRAWN_MS)
  const timeline = useMemo(
    () =>
      prepareTimeline(track, {
        fromMs: view.day.startMs,
        toMs: view.day.endMs,
        nowMs: drawnUntilMs,
        rules: view.rules,
        outages: view.outages,
      }),
    [track, view, drawnUntilMs],
  )
  const series = useMemo(() => prepareWindows(view, track), [view, track])
  const clock = useMemo(() => prepareClock(track), [track])
  const points = useMemo(() => preparePoints(header ?? NONE, view.latePoints, track, view.rules.sessionGapMs), [header, view, track])
  const firstMs = timeline.spans.find(({ kind }) => kind !== 'silent')?.fromMs ?? view.day.startMs
  const atMs = Math.min(Math.max(place.atMs ?? (goesOn ? nowMs : firstMs), view.day.startMs), untilMs)
  const seek = useCallback(
    (ms: number | null) =>
      onPlace({ ...place, atMs: ms === null ? null : Math.min(Math.max(ms, view.day.startMs), Math.min(untilMs, view.day.endMs - 1)) }),
    [onPlace, place, view.day, untilMs],
  )
  const spans = useRef(timeline.spans)
  spans.current = timeline.spans
  const kindAt = useCallback(
    (ms: number): SpanKind =>
      spans.current.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs)?.kind ?? spans.current.at(-1)?.kind ?? 'silent',
    [],
  )
  const frame = useRef<((ms: number) => void) | null>(null)
  const playback = usePlayback({
    atMs,
    toMs: untilMs,
    onAt: seek,
    onEnd: () => seek(goesOn ? null : untilMs),
    onFrame: (ms) => frame.current?.(ms),
  })
  const speed = speedAt(track, atMs, view.rules.sessionGapMs)
  const kind = kindAt(atMs)
  return (
    <>
      <DayBar view={view} day={day} atMs={atMs} nowMs={nowMs} place={place} onPlace={onPlace} />
      {props.isStale && (
        <p className={styles.stale} role="status">
          {t('stale')}
        </p>
      )}
      <div className={styles.columns}>
        <div className={styles.left}>
          <section className={`${card.card} ${styles.mapCard}`} aria-label={t('map')}>
            <VanMap
              van={view.van.van}
              name={view.van.name ?? view.van.van}
              track={track}
              gapMs={view.rules.sessionGapMs}
              points={points}
              atMs={atMs}
              kindAt={kindAt}
              theme={props.theme}
              ownMap={props.ownMap}
              onFrame={frame}
            />
          </section>
          <section className={`${card.card} ${styles.timeCard}`} aria-label={t('timeline')} data-line={line} data-points={track.count}>
            <Player playback={playback} atMs={atMs} stepMs={STEP_MS} onSeek={seek}>
              <p className={styles.now} data-kind={kind}>
                <b>
                  <Moment ms={atMs} />
                </b>{' '}
                {t(`span.${kind}`)}
                {kind === 'moving' && speed !== null && ` · ${t('speed', { speed })}`}
              </p>
              {goesOn && (
                <button type="button" aria-pressed={place.atMs === null} className={styles.follow} onClick={() => seek(null)}>
                  {t('follow')}
                </button>
              )}
            </Player>
            <Timeline day={view.day} timeline={timeline} atMs={atMs} onSeek={seek} />
            <LakeNotice line={line} header={header} reason={reason} shown={track.count} />
          </section>
          <section className={`${card.card} ${styles.chartCard}`} aria-labelledby="windows-title">
            <header className={card.head}>
              <h2 id="windows-title">{t('windows')}</h2>
              <span className={card.aside}>{t('windowsHint')}</span>
              <FileLinks
                what={t('windows')}
                links={[
                  {
                    format: 'CSV',
                    from: () =>
                      csvFile(
                        fileName(view.van.van, day, 'windows'),
                        windowsTable(view, prepareWindows(view, track), view.rules.windowSizeMs),
                      ),
                  },
                ]}
              />
              <WindowAt atMs={atMs} slideMs={view.rules.slideMs} onWindow={props.onWindow} />
            </header>
            <WindowsChart day={view.day} series={series} atMs={atMs} theme={props.theme} onPick={props.onWindow} />
            <OpenWindows {...props} series={series} />
          </section>
        </div>
        <div className={styles.right}>
          {props.chosenEndMs !== null && (
            <WhyCard view={view} series={series} endMs={props.chosenEndMs} nowMs={nowMs} onClose={() => props.onWindow(null)} />
          )}
          <TotalsCard view={view} day={day} />
          <ClockCard clock={clock} isKnown={header?.source === 'lake'} />
          <PointsCard points={points} isCut={header?.isCut ?? false} isKnown={header === null || header.source === 'lake'} onSeek={seek} />
        </div>
      </div>
    </>
  )
}

/** The window that holds the moment, for hands that have no pointer. */
function WindowAt(props: { readonly atMs: number; readonly slideMs: number; readonly onWindow: (endMs: number) => void }) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  const endMs = Math.floor(props.atMs / props.slideMs + 1) * props.slideMs
  return (
    <button type="button" className={styles.at} onClick={() => props.onWindow(endMs)}>
      {t('windowAt', { time: format.dateTime(endMs, CLOCK) })}
    </button>
  )
}

/** The windows that are open, for hands that have no pointer. */
function OpenWindows({ series, chosenEndMs, onWindow }: VanDayProps & { readonly series: ReturnType<typeof prepareWindows> }) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  if (series.openWindows.length === 0) return null
  return (
    <div className={styles.open}>
      <span>{t('openWindows')}</span>
      {series.openWindows.map(({ endMs }) => (
        <button key={endMs} type="button" aria-pressed={chosenEndMs === endMs} data-open-window={endMs} onClick={() => onWindow(endMs)}>
          {format.dateTime(endMs, CLOCK)}
        </button>
      ))}
    </div>
  )
}
