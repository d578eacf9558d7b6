'use client'

import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { exportPath } from '../data-out/prepare-subscription.ts'
import card from '../shell/card.module.css'
import { EmptyState, type ListStatus, LoadingRows, StaleNote } from '../shell/list-state.tsx'
import { useHeldRows } from '../shell/use-held-rows.ts'
import { AcknowledgeEpisode } from './acknowledge-episode.tsx'
import { EpisodeRowView } from './episode-row.tsx'
import type { EpisodeRow, StockLists } from './prepare-stock.ts'
import styles from './stock.module.css'

export interface EpisodesCardProps {
  readonly lists: StockLists
  readonly status: ListStatus
  /** Of what is shown. */
  readonly ageMs: number
  /** Changes when another list is asked for. */
  readonly version: string
  /** Which market is shown; null: all. */
  readonly market: string | null
  readonly endedShown: boolean
  readonly onEndedShown: (shown: boolean) => void
}

export function EpisodesCard(props: EpisodesCardProps) {
  const t = useTranslations()
  const { open, ended, low } = props.lists
  const { rows, handlers } = useHeldRows(open, props.version)
  const [acknowledging, setAcknowledging] = useState<EpisodeRow | null>(null)
  const { status } = props
  return (
    <section className={`${card.card} ${styles.episodes}`} aria-labelledby="episodes-title">
      <header className={card.head}>
        <h2 id="episodes-title">{t('stock.episodes')}</h2>
        {open.length > 0 && (
          <span className={styles.count} data-count="episodes">
            {open.length}
          </span>
        )}
        <span className={card.aside}>{open.length > 1 && t('stock.order')}</span>
        <a
          className={card.file}
          href={exportPath('stock', 'csv', { market: props.market ?? '' })}
          aria-label={t('dataOut.formatOf', { set: t('dataOut.set.stock'), format: 'CSV' })}
        >
          CSV
        </a>
      </header>
      {status === 'loading' && <LoadingRows rows={4} />}
      {status === 'stale' && <StaleNote ageMs={props.ageMs} />}
      {status === 'error' && <EmptyState kind="error" title={t('error.title')} hint={t('error.hint')} />}
      {status !== 'loading' && status !== 'error' && (
        <div className={card.scroll}>
          {rows.length === 0 && low.length === 0 && <EmptyState kind="ok" title={t('stock.noneTitle')} hint={t('stock.none')} />}
          {rows.length === 0 && low.length > 0 && (
            <EmptyState kind="waiting" title={t('stock.notYetTitle')} hint={t('stock.notYet', { count: low.length })} />
          )}
          <ul className={styles.rows} aria-labelledby="episodes-title" data-list="episodes" {...handlers}>
            {rows.map(({ row, gone }) => (
              <EpisodeRowView key={row.key} row={row} gone={gone} onAcknowledge={setAcknowledging} />
            ))}
          </ul>
          {ended.length > 0 && (
            <details className={styles.ended} open={props.endedShown} onToggle={(event) => props.onEndedShown(event.currentTarget.open)}>
              <summary>{t('stock.endedTitle', { count: ended.length })}</summary>
              {props.endedShown && (
                <ul className={styles.rows} data-list="ended">
                  {ended.map((row) => (
                    <EpisodeRowView key={row.key} row={row} gone={false} onAcknowledge={setAcknowledging} />
                  ))}
                </ul>
              )}
            </details>
          )}
        </div>
      )}
      <AcknowledgeEpisode row={acknowledging} onClose={() => setAcknowledging(null)} />
    </section>
  )
}
