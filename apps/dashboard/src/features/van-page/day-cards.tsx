import type { VanDayView } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { explainDay } from '../days/prepare-day.ts'
import { CLOCK_SECONDS } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import type { ClockOffset } from './prepare-clock.ts'
import type { OddPoint } from './prepare-points.ts'
import styles from './van-page.module.css'
import { Fact } from './why-card.tsx'

const KM = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
/** Points listed at first. */
const SHOWN = 50
const REASONS = [
  'tard',
  'parcial',
  'futur',
  'antic',
  'invalid',
  'identitat',
  'json',
  'buit',
  'retingut',
  'utf8',
  'massa-gran',
  'no-posicio',
  'sense-format',
  'camps',
  'rebutjat-per-kafka',
] as const

/** The day in figures, and the version that they come from. */
export function TotalsCard({ view, day }: { readonly view: VanDayView; readonly day: string }) {
  const t = useTranslations()
  const format = useTimes()
  const total = explainDay(view)
  const km = (mm: number | null) => (mm === null ? '–' : format.number(mm / 1e6, KM))
  const late = view.late.tard + view.late.parcial
  return (
    <section className={card.card} aria-labelledby="totals-title">
      <header className={card.head}>
        <h2 id="totals-title">{t('vanPage.totals')}</h2>
      </header>
      <p className={styles.total}>
        <b>{km(total.distanceMm)}</b> km <span>{t('vanPage.positions', { positions: total.positions })}</span>
      </p>
      <dl className={styles.facts}>
        <Fact
          name={t('days.version')}
          value={
            total.versions.length === 0
              ? t('days.live')
              : t('days.versionsValue', { versions: total.versions.join(', '), live: total.isLive ? 'yes' : 'no' })
          }
        />
        <Fact name={t('days.lateName')} value={t('days.lateValue', view.late)} alarm={late > 0} />
        <Fact
          name={t('days.jumps')}
          value={
            total.jumpsMm === null
              ? t('days.jumpsLive', { count: total.jumps })
              : t('days.jumpsValue', { count: total.jumps, km: `${km(total.jumpsMm)} km` })
          }
        />
        <Fact
          name={t('vanPage.sessions')}
          value={t('vanPage.sessionsValue', { sessions: view.sessions.length, silences: view.silences.length })}
        />
      </dl>
      <p className={styles.onward}>
        <a href={`/dies?${new URLSearchParams({ fins: day, furgo: view.van.van, dia: day })}`}>{t('vanPage.toDays')}</a>
      </p>
    </section>
  )
}

/** What arrival and event times say of the van's clock. */
export function ClockCard({ clock, isKnown }: { readonly clock: ClockOffset | null; readonly isKnown: boolean }) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  const seconds = (ms: number) =>
    t('secondsExact', { seconds: format.number(ms / 1_000, { maximumFractionDigits: 1, signDisplay: 'exceptZero' }) })
  return (
    <section className={card.card} aria-labelledby="clock-title" data-clock={clock?.verdict ?? 'unknown'}>
      <header className={card.head}>
        <h2 id="clock-title">{t('clock')}</h2>
      </header>
      {clock === null ? (
        <p className={styles.line}>{t(isKnown ? 'clockFew' : 'clockUnknown')}</p>
      ) : (
        <>
          <p className={styles.line}>
            {t(`clockVerdict.${clock.verdict}`, {
              seconds: Math.round((clock.verdict === 'ahead' ? clock.aheadMs : clock.medianMs) / 1_000),
            })}
          </p>
          <dl className={styles.facts}>
            <Fact name={t('clockMedian')} value={seconds(clock.medianMs)} />
            <Fact name={t('clockMiddle')} value={t('range', { low: seconds(clock.lowMs), high: seconds(clock.highMs) })} />
            <Fact name={t('clockAll')} value={t('range', { low: seconds(clock.leastMs), high: seconds(clock.mostMs) })} />
          </dl>
        </>
      )}
    </section>
  )
}

/** Every late or refused point, with its reason. */
export function PointsCard(props: {
  readonly points: readonly OddPoint[]
  readonly isCut: boolean
  /** The lake was asked: refused ones and places are known. */
  readonly isKnown: boolean
  readonly onSeek: (ms: number) => void
}) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  const [shown, setShown] = useState(SHOWN)
  const { points } = props
  const clock = (ms: number | null) => (ms === null ? '–' : format.dateTime(ms, CLOCK_SECONDS))
  const reason = (name: string) => (REASONS.some((known) => known === name) ? t(`reason.${name as (typeof REASONS)[number]}`) : name)
  return (
    <section className={card.card} aria-labelledby="points-title" data-points={points.length}>
      <header className={card.head}>
        <h2 id="points-title">{t('points')}</h2>
        <span className={card.aside}>{props.isCut ? t('pointsCut', { count: points.length }) : points.length}</span>
      </header>
      {points.length === 0 && <p className={styles.line}>{t('pointsNone')}</p>}
      {!props.isKnown && <p className={styles.line}>{t('pointsStore')}</p>}
      <ol className={styles.points}>
        {points.slice(0, shown).map((point) => (
          <li key={point.id} data-kind={point.kind} data-reason={point.reason}>
            <button
              type="button"
              onClick={() => props.onSeek(point.eventMs !== null && point.kind === 'late' ? point.eventMs : (point.arrivalMs ?? 0))}
            >
              <i aria-hidden="true" />
              <b>{clock(point.eventMs)}</b>
              <span>{reason(point.reason)}</span>
              <small>
                {point.arrivalMs !== null && t('arrived', { time: clock(point.arrivalMs) })}
                {point.windowsClosed !== null && ` · ${t('windowsClosed', { count: point.windowsClosed })}`}
                {point.detail !== null && ` · ${point.detail}`}
                {point.isGuess && ` · ${t('guess')}`}
                {point.lat === null && ` · ${t('noPlace')}`}
              </small>
            </button>
          </li>
        ))}
      </ol>
      {points.length > shown && (
        <button type="button" className={styles.more} onClick={() => setShown(shown + 500)}>
          {t('more', { count: points.length - shown })}
        </button>
      )}
    </section>
  )
}
