import type { DaysView } from '@km0/contracts/days-panel'
import { madridDate } from '@km0/contracts/madrid'
import { useTranslations } from 'next-intl'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import styles from './days.module.css'
import type { DaysPlace } from './days-place.ts'
import type { DayTable } from './prepare-days.ts'

const DAY_MS = 86_400_000

/** Which days, which vans, and the way out as a file. */
export function DaysBar(props: {
  readonly view: DaysView | null
  readonly table: DayTable | null
  readonly place: DaysPlace
  readonly onPlace: (place: DaysPlace) => void
  readonly search: string
  readonly onSearch: (search: string) => void
  readonly csv: string
}) {
  const t = useTranslations('days')
  const format = useTimes()
  const { view, place } = props
  const first = view?.days[0]
  const last = view?.days.at(-1)
  const isNow = view !== null && last !== undefined && last.endMs > view.nowMs
  const move = (byDays: number) => {
    if (last !== undefined) props.onPlace({ ...place, last: madridDate(last.startMs + DAY_MS / 2 + byDays * DAY_MS) })
  }
  return (
    <header className={`${card.head} ${styles.bar}`}>
      <h1 id="days-title">{t('title')}</h1>
      <div className={styles.span}>
        <button type="button" aria-label={t('earlier')} disabled={view === null} onClick={() => move(-7)}>
          ‹
        </button>
        <span aria-live="polite">
          {first !== undefined &&
            last !== undefined &&
            format.dateTimeRange(first.startMs, last.endMs - 1, { day: 'numeric', month: 'short', year: 'numeric' })}
        </span>
        <button type="button" aria-label={t('later')} disabled={view === null || isNow} onClick={() => move(7)}>
          ›
        </button>
        {!isNow && view !== null && (
          <button type="button" onClick={() => props.onPlace({ ...place, last: null })}>
            {t('today')}
          </button>
        )}
      </div>
      <label className={styles.search}>
        <span className="visually-hidden">{t('search')}</span>
        <input type="search" value={props.search} placeholder={t('search')} onChange={(event) => props.onSearch(event.target.value)} />
      </label>
      {(props.table?.late ?? 0) > 0 && (
        <a className={styles.lateTotal} href="/recalculs" data-late={props.table?.late}>
          {t('lateTotal', { count: props.table?.late ?? 0 })}
        </a>
      )}
      <a className={styles.csv} href={props.csv} download>
        {t('csv')}
      </a>
    </header>
  )
}
