import { madridDate } from '@km0/contracts/madrid'
import type { VanDayView } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import { FileLinks } from '../data-out/file-links.tsx'
import { useTimes } from '../feed/use-times.ts'
import { addressOfReplay } from '../replay/replay-place.ts'
import styles from './van-page.module.css'
import type { VanPagePlace } from './van-page-place.ts'

const DAY_MS = 86_400_000

/** Whose day it is, and the ways to another one. */
export function DayBar(props: {
  readonly view: VanDayView
  readonly day: string
  readonly atMs: number
  readonly nowMs: number
  readonly place: VanPagePlace
  readonly onPlace: (place: VanPagePlace) => void
}) {
  const t = useTranslations('vanPage')
  const format = useTimes()
  const { view, day, nowMs, place } = props
  const file = new URLSearchParams({ van: view.van.van, day })
  const isToday = view.day.endMs > nowMs
  const move = (days: number) => {
    const next = madridDate(view.day.startMs + DAY_MS / 2 + days * DAY_MS)
    props.onPlace({ ...place, day: next === madridDate(nowMs) ? null : next, atMs: null })
  }
  const hours = Math.round((view.day.endMs - view.day.startMs) / 3_600_000)
  return (
    <header className={styles.bar}>
      <h1>
        {view.van.name ?? view.van.van}
        <small className={styles.plate}>
          {[view.van.name === view.van.van || view.van.name === null ? null : view.van.van, view.van.plate]
            .filter((part) => part !== null)
            .join(' · ')}
        </small>
      </h1>
      <div className={styles.days}>
        <button type="button" aria-label={t('dayBefore')} onClick={() => move(-1)}>
          ‹
        </button>
        <span aria-live="polite" data-day={day}>
          {format.dateTime(view.day.startMs + DAY_MS / 2, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })}
          {hours !== 24 && <small> · {t('hoursLong', { hours })}</small>}
        </span>
        <button type="button" aria-label={t('dayAfter')} disabled={isToday} onClick={() => move(1)}>
          ›
        </button>
        {!isToday && (
          <button type="button" onClick={() => props.onPlace({ ...place, day: null, atMs: null })}>
            {t('today')}
          </button>
        )}
      </div>
      <nav className={styles.ways} aria-label={t('ways')}>
        <a href={`/?${new URLSearchParams({ van: view.van.van })}`}>{t('toMap')}</a>
        <a href={addressOfReplay({ atMs: Math.floor(props.atMs / 1_000) * 1_000, van: view.van.van })}>{t('toReplay')}</a>
      </nav>
      <FileLinks
        what={t('track')}
        links={[
          { format: 'CSV', from: `/api/track.csv?${file}` },
          { format: 'GeoJSON', from: `/api/track.geojson?${file}` },
        ]}
      />
    </header>
  )
}
