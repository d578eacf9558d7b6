'use client'

import { useTranslations } from 'next-intl'
import { isoDuration, shortAge } from '../feed/durations.ts'
import card from '../shell/card.module.css'
import { EmptyState, type ListStatus, LoadingRows, StaleNote } from '../shell/list-state.tsx'
import { useHeldRows } from '../shell/use-held-rows.ts'
import { HistoryChart } from './history-chart.tsx'
import type { LowRow } from './prepare-stock.ts'
import styles from './stock.module.css'

/** What is below its threshold now, by its newest known stock. */
export function LowCard(props: {
  readonly rows: readonly LowRow[]
  readonly status: ListStatus
  readonly version: string
  readonly ageMs: number
}) {
  const t = useTranslations()
  const { rows, handlers } = useHeldRows(props.rows, props.version)
  const { status } = props
  return (
    <section className={`${card.card} ${styles.low}`} aria-labelledby="low-title">
      <header className={card.head}>
        <h2 id="low-title">{t('stock.lowNow')}</h2>
        {props.rows.length > 0 && (
          <span className={styles.quietCount} data-count="low">
            {props.rows.length}
          </span>
        )}
      </header>
      {status === 'loading' && <LoadingRows rows={4} />}
      {status === 'stale' && <StaleNote ageMs={props.ageMs} />}
      {status === 'error' && <EmptyState kind="error" title={t('error.title')} hint={t('error.hint')} />}
      {status !== 'loading' && status !== 'error' && rows.length === 0 && (
        <EmptyState kind="ok" title={t('stock.lowNoneTitle')} hint={t('stock.lowNone')} />
      )}
      {rows.length > 0 && (
        <div className={card.scroll}>
          <ul className={styles.rows} aria-labelledby="low-title" data-list="low" {...handlers}>
            {rows.map(({ row: { key, low, pending, ageMs }, gone }) => (
              <li key={key} className={styles.lowRow} data-gone={gone} data-low={key}>
                <b className={styles.lowStock}>{low.stock}</b>
                <span className={styles.what}>
                  <span className={styles.product}>{low.product}</span>
                  <span className={styles.where}>
                    <span>{low.market}</span>
                    <time dateTime={isoDuration(ageMs)}>{gone ? t('stock.filled') : t('stock.said', { age: shortAge(ageMs) })}</time>
                    {pending && !gone && <em>{t('stock.pending')}</em>}
                  </span>
                </span>
                <HistoryChart product={low.product} market={low.market} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}
