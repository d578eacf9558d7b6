import { useTranslations } from 'next-intl'
import { memo } from 'react'
import { isoDuration, shortAge } from '../feed/durations.ts'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { useMay } from '../sign-in/use-session.ts'
import { HistoryChart } from './history-chart.tsx'
import { LevelIcon } from './level-icon.tsx'
import type { EpisodeRow } from './prepare-stock.ts'
import styles from './stock.module.css'

export interface EpisodeRowProps {
  readonly row: EpisodeRow
  /** It is no longer in the list, but stays while a pointer is over it. */
  readonly gone: boolean
  readonly onAcknowledge: (row: EpisodeRow) => void
}

export const EpisodeRowView = memo(function EpisodeRowView({ row, gone, onAcknowledge }: EpisodeRowProps) {
  const t = useTranslations('stock')
  const format = useTimes()
  const { episode, level } = row
  const { acknowledgement } = episode
  const may = useMay('dispatcher')
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  return (
    <li className={styles.episode} data-level={gone ? 'ended' : level} data-acknowledged={acknowledgement !== null} data-episode={row.key}>
      <span className={styles.stock}>
        <LevelIcon level={gone ? 'ended' : level} />
        <span>
          <b data-stock>{episode.stock ?? '–'}</b>
          <small>{t('lowest', { stock: episode.minimum })}</small>
        </span>
      </span>
      <span className={styles.what}>
        <span className={styles.product}>{episode.product}</span>
        <span className={styles.where}>
          <span>{episode.market}</span>
          <time dateTime={isoDuration(row.durationMs)}>
            {level === 'ended' && episode.endMs !== null
              ? t('ended', { from: clock(episode.startMs), to: clock(episode.endMs) })
              : t('since', { time: clock(episode.startMs), age: shortAge(row.durationMs) })}
          </time>
        </span>
        {acknowledgement !== null && (
          <span className={styles.note}>
            <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
              <path d="M2.500 7.500l3 3 6-7" />
            </svg>
            <span>
              <b>{t('acknowledgedBy', { name: acknowledgement.actor.name, time: clock(acknowledgement.atMs) })}</b>
              {acknowledgement.note !== '' && ` — ${acknowledgement.note}`}
            </span>
          </span>
        )}
      </span>
      <HistoryChart product={episode.product} market={episode.market} />
      {level !== 'ended' && !gone && may && (
        <button
          type="button"
          className={styles.acknowledge}
          data-done={acknowledgement !== null}
          aria-label={t(acknowledgement === null ? 'acknowledgeEpisode' : 'acknowledgeAgain', {
            product: episode.product,
            market: episode.market,
          })}
          onClick={() => onAcknowledge(row)}
        >
          {t(acknowledgement === null ? 'acknowledge' : 'newNote')}
        </button>
      )}
    </li>
  )
})
