'use client'

import { useFormatter, useTranslations } from 'next-intl'
import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { CLOCK } from '../feed/time-formats.ts'
import card from '../shell/card.module.css'
import { EmptyState, type ListStatus, LoadingRows } from '../shell/list-state.tsx'
import { useHeldRows } from '../shell/use-held-rows.ts'
import styles from './distance.module.css'
import { DistanceRowView } from './distance-row.tsx'
import { type DistanceTable, type Sort, type SortColumn, sortDistances } from './prepare-distances.ts'

export interface DistanceCardProps {
  readonly table: DistanceTable
  readonly status: ListStatus
  readonly sinceMs: number | null
  readonly selected: string | null
  readonly onSelect: (van: string) => void
}

const FIRST_DIRECTION = { van: 'ascending', place: 'ascending', distance: 'descending' } as const

export function DistanceCard(props: DistanceCardProps) {
  const t = useTranslations()
  const format = useFormatter()
  const { table, status } = props
  const stale = status === 'stale' && props.sinceMs !== null
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  return (
    <section className={card.card} aria-labelledby="distances-title">
      <header className={card.head}>
        <h2 id="distances-title">{t('distances.title')}</h2>
        {table.window !== null && (
          <span className={styles.window} data-window-end={table.window.endMs}>
            {t('distances.window', { start: clock(table.window.startMs), end: clock(table.window.endMs) })}
          </span>
        )}
        <span className={card.aside} data-stale={stale} data-total={!stale}>
          {stale && props.sinceMs !== null
            ? t('noSignal.frozen', { time: clock(props.sinceMs) })
            : table.window !== null && t('distances.total', { km: format.number(table.totalMm / 1e6, { maximumFractionDigits: 0 }) })}
        </span>
      </header>
      {status === 'loading' && <LoadingRows rows={8} />}
      {status === 'error' && <EmptyState kind="error" title={t('error.title')} hint={t('error.hint')} />}
      {(status === 'ready' || status === 'stale') &&
        (table.rows.length === 0 ? (
          <EmptyState kind="waiting" title={t('distances.emptyTitle')} hint={t('distances.empty')} />
        ) : (
          <Rows {...props} />
        ))}
    </section>
  )
}

function Rows({ table, selected, onSelect }: DistanceCardProps) {
  const t = useTranslations('distances')
  const [sort, setSort] = useState<Sort>({ column: 'distance', direction: 'descending' })
  const sorted = useMemo(() => sortDistances(table.rows, sort), [table.rows, sort])
  const { rows, held, handlers } = useHeldRows(sorted, `${sort.column} ${sort.direction}`)
  const maximum = useMemo(() => Math.max(1, ...table.rows.flatMap((row) => row.history.map((value) => value ?? 0))), [table.rows])
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
          {rows.map(({ row, gone }) => (
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
    </div>
  )
}
