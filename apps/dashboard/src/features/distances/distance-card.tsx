'use client'

import type { TravelTotalsView } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState, type ListStatus, LoadingRows } from '../shell/list-state.tsx'
import { useHeldRows } from '../shell/use-held-rows.ts'
import { usePolled } from '../shell/use-polled.ts'
import styles from './distance.module.css'
import { DistanceRowView } from './distance-row.tsx'
import { type DistanceRow, type DistanceTable, type Sort, type SortColumn, sortDistances } from './prepare-distances.ts'
import { type Measure, prepareTotals, withTotals } from './prepare-totals.ts'

export interface DistanceCardProps {
  readonly table: DistanceTable
  readonly status: ListStatus
  readonly sinceMs: number | null
  readonly selected: string | null
  readonly onSelect: (van: string) => void
}

const TOTALS_EVERY_MS = 60_000
const MEASURES: readonly Measure[] = ['window', 'hour', 'day']

const FIRST_DIRECTION = { van: 'ascending', place: 'ascending', distance: 'descending' } as const

export function DistanceCard(props: DistanceCardProps) {
  const t = useTranslations()
  const format = useTimes()
  const { table, status } = props
  const stale = status === 'stale' && props.sinceMs !== null
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  const [measure, setMeasure] = useState<Measure>('window')
  const totals = usePolled<TravelTotalsView>(measure === 'window' ? null : '/api/distances/totals', () => TOTALS_EVERY_MS)
  const { view } = totals
  const rows = useMemo(
    () => (measure === 'window' ? table.rows : withTotals(table.rows, view === null ? new Map() : prepareTotals(view, measure))),
    [measure, table.rows, view],
  )
  const totalMm = rows.reduce((sum, row) => sum + (row.distanceMm ?? 0), 0)
  return (
    <section className={card.card} aria-labelledby="distances-title">
      <header className={card.head}>
        <h2 id="distances-title">{t('distances.title')}</h2>
        {table.window !== null && measure === 'window' && (
          <span className={styles.window} data-window-end={table.window.endMs}>
            {t('distances.window', { start: clock(table.window.startMs), end: clock(table.window.endMs) })}
          </span>
        )}
        <span className={card.aside} data-stale={stale} data-total={!stale}>
          {stale && props.sinceMs !== null
            ? t('noSignal.frozen', { time: clock(props.sinceMs) })
            : table.window !== null && t('distances.total', { km: format.number(totalMm / 1e6, { maximumFractionDigits: 0 }) })}
        </span>
      </header>
      <fieldset className={styles.measures} aria-label={t('distances.measure')}>
        {MEASURES.map((one) => (
          <button key={one} type="button" aria-pressed={one === measure} onClick={() => setMeasure(one)}>
            {t(`distances.measures.${one}`)}
          </button>
        ))}
        {measure !== 'window' && (
          <span className={styles.window} role="status">
            {totals.line === 'failed'
              ? t('error.title')
              : view === null
                ? t('distances.totalsLoading')
                : measure === 'hour'
                  ? t('distances.window', { start: clock(view.hourMs), end: clock(view.hourMs + 3_600_000) })
                  : t('distances.window', { start: clock(view.dayMs), end: clock(view.nowMs) })}
          </span>
        )}
      </fieldset>
      {status === 'loading' && <LoadingRows rows={8} />}
      {status === 'error' && <EmptyState kind="error" title={t('error.title')} hint={t('error.hint')} />}
      {(status === 'ready' || status === 'stale') &&
        (table.rows.length === 0 ? (
          <EmptyState kind="waiting" title={t('distances.emptyTitle')} hint={t('distances.empty')} />
        ) : (
          <Rows rows={rows} measure={measure} selected={props.selected} onSelect={props.onSelect} />
        ))}
    </section>
  )
}

/** So many rows are drawn at once; more when they are asked for: 10,000 of them would be all that the page does. */
const ROWS_SHOWN = 300

function mostOf(rows: readonly DistanceRow[]): number {
  let most = 1
  for (const { history } of rows) for (const value of history) if (value !== null && value > most) most = value
  return most
}

function Rows(props: {
  readonly rows: readonly DistanceRow[]
  readonly measure: Measure
  readonly selected: string | null
  readonly onSelect: (van: string) => void
}) {
  const { rows: all, measure, selected, onSelect } = props
  const t = useTranslations('distances')
  const [sort, setSort] = useState<Sort>({ column: 'distance', direction: 'descending' })
  const sorted = useMemo(() => sortDistances(all, sort), [all, sort])
  const { rows, held, handlers } = useHeldRows(sorted, `${sort.column} ${sort.direction} ${measure}`)
  const maximum = useMemo(() => mostOf(all), [all])
  const [limit, setLimit] = useState(ROWS_SHOWN)
  const body = useRef<HTMLTableSectionElement>(null)
  const [active, setActive] = useState<string | null>(null)
  const stop = rows.some(({ row }) => row.key === active) ? active : (rows[0]?.row.key ?? null)

  // One stop for the tab key; arrows, Home and End go from row to row.
  const move = (event: KeyboardEvent) => {
    const buttons = [...(body.current?.querySelectorAll<HTMLButtonElement>('button[data-row]') ?? [])]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const goal = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key]
    const next = goal === undefined || at < 0 ? undefined : buttons[goal]
    if (next === undefined) return
    event.preventDefault()
    setActive(next.dataset.row ?? null)
    next.focus()
  }
  const head = (column: SortColumn, label: string) => {
    const current = sort.column === column
    const opposite = sort.direction === 'ascending' ? 'descending' : 'ascending'
    return (
      <th scope="col" className={styles[column]} aria-sort={current ? sort.direction : undefined}>
        <button type="button" onClick={() => setSort({ column, direction: current ? opposite : FIRST_DIRECTION[column] })}>
          {label}
          <svg width="9" height="9" viewBox="0 0 9 9" aria-hidden="true" data-shown={current} data-direction={sort.direction}>
            <path d="M1 2.500h7L4.500 7.500z" />
          </svg>
        </button>
      </th>
    )
  }
  return (
    <div className={card.scroll} {...handlers}>
      <table className={styles.table} aria-labelledby="distances-title">
        <thead>
          <tr>
            {head('van', t('van'))}
            {head('place', t('place'))}
            {head('distance', t('distance'))}
            <th scope="col" className={styles.history}>
              <span data-held={held}>{held ? t('held') : t('history')}</span>
            </th>
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={move}>
          {rows.slice(0, limit).map(({ row, gone }) => (
            <DistanceRowView
              key={row.key}
              row={row}
              gone={gone}
              maximum={maximum}
              selected={row.key === selected}
              tabStop={row.key === stop}
              onSelect={onSelect}
              onActive={setActive}
            />
          ))}
        </tbody>
      </table>
      {rows.length > limit && (
        <button type="button" className={styles.more} onClick={() => setLimit(limit + ROWS_SHOWN)}>
          {t('more', { shown: limit, count: rows.length })}
        </button>
      )}
    </div>
  )
}
