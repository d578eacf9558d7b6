import type { VanDayView } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import { useEffect, useRef } from 'react'
import { clockDuration } from '../feed/durations.ts'
import { CLOCK, CLOCK_SECONDS } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { whyNotYet } from './prepare-why.ts'
import type { WindowSeries } from './prepare-windows.ts'
import styles from './van-page.module.css'

/** One window: what it holds, and while it is open what it waits for. */
export function WhyCard(props: {
  readonly view: VanDayView
  readonly series: WindowSeries
  /** Its end. */
  readonly endMs: number
  /** Time of the platform. */
  readonly nowMs: number
  readonly onClose: () => void
}) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  const { view, series, endMs, nowMs } = props
  const box = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another window is looked at
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [endMs])
  const row = series.windows.get(endMs)
  const open = series.openWindows.find((window) => window.endMs === endMs)
  const why = whyNotYet(endMs, view.progress, view.rules, nowMs)
  const clock = (ms: number) => format.dateTime(ms, CLOCK_SECONDS)
  const from = row?.startMs ?? endMs - view.rules.windowSizeMs
  const km = (mm: number) => format.number(mm / 1e6, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  return (
    <section ref={box} className={card.card} aria-labelledby="window-title" data-window={why.state} data-holder={why.holder ?? ''}>
      <header className={card.head}>
        <h2 id="window-title">{t('window', { from: format.dateTime(from, CLOCK), to: format.dateTime(endMs, CLOCK) })}</h2>
        <span className={styles.badge} data-state={why.state}>
          {t(`windowState.${why.state}`)}
        </span>
        <button type="button" className={styles.close} aria-label={t('closeWindow')} onClick={props.onClose}>
          ×
        </button>
      </header>
      {row !== undefined && (
        <p className={styles.line}>
          {t('windowRow', {
            km: km(row.distanceMm),
            positions: row.positions,
            jumps: row.jumps,
            metres: Math.round(row.displacementMm / 1_000),
          })}{' '}
          {row.version === null ? t('live', { revision: row.revision }) : t('fromVersion', { version: row.version })}
        </p>
      )}
      {row === undefined && open !== undefined && (
        <p className={styles.line}>{t('windowOpen', { km: km(open.distanceMm), positions: open.positions })}</p>
      )}
      {row === undefined && open === undefined && (
        <p className={styles.line}>{t(why.state === 'open' ? 'windowEmptyYet' : 'windowEmpty')}</p>
      )}
      {why.state === 'open' && why.holder !== null && (
        <>
          <h3 className={styles.sub}>{t('whyTitle')}</h3>
          <p className={styles.line} data-why>
            {t(`why.${why.holder}`, {
              partition: why.partition ?? '–',
              delay: Math.round(why.delayMs / 1_000),
              records: why.behindRecords ?? 0,
              end: format.dateTime(endMs, CLOCK),
            })}
          </p>
          {why.closesAtMs !== null && (
            <p className={styles.countdown} role="timer">
              <b>{clockDuration(Math.max(0, why.closesAtMs - nowMs))}</b>
              <span>{t('closesAt', { time: clock(why.closesAtMs) })}</span>
            </p>
          )}
          <dl className={styles.facts}>
            <Fact
              name={t('watermark')}
              value={
                why.watermarkMs === null
                  ? t('none')
                  : t('watermarkValue', { time: clock(why.watermarkMs), missing: clockDuration(why.missingMs ?? 0) })
              }
            />
            <Fact name={t('delay')} value={t('seconds', { seconds: Math.round(why.delayMs / 1_000) })} />
            <Fact
              name={t('lateness')}
              value={why.allowedLatenessMs === 0 ? t('latenessNone') : t('seconds', { seconds: why.allowedLatenessMs / 1_000 })}
            />
            <Fact name={t('partition')} value={why.partition === null ? t('none') : t('partitionValue', { partition: why.partition })} />
            <Fact
              name={t('heartbeat')}
              value={why.heartbeatAgeMs === null ? t('none') : t('ago', { age: clockDuration(why.heartbeatAgeMs) })}
            />
            <Fact name={t('movedBy')} value={why.movedBy ?? t('movedByHeartbeat')} />
            {why.finalAtMs !== null && why.allowedLatenessMs > 0 && <Fact name={t('finalAt')} value={clock(why.finalAtMs)} />}
          </dl>
        </>
      )}
      {why.state === 'closed' && why.finalAtMs !== null && (
        <p className={styles.line}>{t('closedNotFinal', { time: clock(why.finalAtMs) })}</p>
      )}
    </section>
  )
}

export function Fact({ name, value, alarm = false }: { readonly name: string; readonly value: string; readonly alarm?: boolean }) {
  return (
    <div data-alarm={alarm}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
