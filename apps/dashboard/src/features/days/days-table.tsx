import type { DaysView } from '@km0/contracts/days-panel'
import { madridDate } from '@km0/contracts/madrid'
import { useTranslations } from 'next-intl'
import { useLayoutEffect, useRef } from 'react'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import styles from './days.module.css'
import { certificateOf, type DayTable, type DayTableCell, type Sorting, type SortKey } from './prepare-days.ts'

const KM = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
const MM_PER_KM = 1_000_000
const CERTIFICATES = { equal: '✓', explained: '≈', different: '≠' } as const

/** Vans × days, in kilometres. */
export function DaysTable(props: {
  readonly view: DaysView
  readonly table: DayTable
  readonly sorting: Sorting
  readonly onSorting: (sorting: Sorting) => void
  /** `van|YYYY-MM-DD` of the cell that is open; null: none. */
  readonly chosen: string | null
  readonly onChoose: (van: string, day: string) => void
}) {
  const t = useTranslations('days')
  const format = useTimes()
  const { view, table } = props
  const km = (mm: number | null) => (mm === null ? '–' : format.number(mm / MM_PER_KM, KM))
  const head = { sorting: props.sorting, onSorting: props.onSorting }
  const scroll = useRef<HTMLDivElement>(null)
  const newest = view.days.at(-1)?.startMs
  // biome-ignore lint/correctness/useExhaustiveDependencies: a phone begins with the newest day; whoever has moved the table is left there
  useLayoutEffect(() => {
    const { current } = scroll
    if (current !== null) current.scrollLeft = current.scrollWidth
  }, [newest])
  return (
    <div className={`${card.scroll} ${styles.scroll}`} ref={scroll}>
      <table className={styles.days}>
        <caption className="visually-hidden">{t('caption')}</caption>
        <thead>
          <tr>
            <SortHead {...head} by="van" first={false}>
              {t('van')}
            </SortHead>
            {view.days.map((day) => {
              const certificate = certificateOf(view.certificates, day.startMs)
              return (
                <SortHead {...head} key={day.startMs} by={day.startMs} first>
                  <span>{format.dateTime(day.startMs, { weekday: 'short', day: 'numeric' })}</span>
                  {day.endMs > view.nowMs && <small>{t('soFar')}</small>}
                  {certificate !== null && (
                    <small
                      data-certificate={certificate.result}
                      title={t(`certificate.${certificate.result}`, { hours: certificate.hours })}
                    >
                      <span aria-hidden="true">{CERTIFICATES[certificate.result]}</span>
                      <span className="visually-hidden">{t(`certificate.${certificate.result}`, { hours: certificate.hours })}</span>
                    </small>
                  )}
                </SortHead>
              )
            })}
            <SortHead {...head} by="total" first>
              {t('total')}
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr key={row.van.van} data-van={row.van.van}>
              <th scope="row">
                <span>{row.van.van}</span>
                {row.van.name !== null && row.van.name !== row.van.van && <small>{row.van.name}</small>}
              </th>
              {row.cells.map((cell) => {
                const day = madridDate(cell.dayMs)
                return (
                  <td key={cell.dayMs} data-chosen={props.chosen === `${row.van.van}|${day}`}>
                    <CellButton cell={cell} km={km(cell.distanceMm)} onClick={() => props.onChoose(row.van.van, day)} />
                  </td>
                )
              })}
              <td className={styles.total}>{km(row.totalMm)}</td>
            </tr>
          ))}
          {table.rows.length === 0 && (
            <tr>
              <td colSpan={view.days.length + 2} className={styles.nothing}>
                {t('nobody')}
              </td>
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('sum')}</th>
            {table.totals.map((day) => (
              <td key={day.dayMs}>{km(day.distanceMm)}</td>
            ))}
            <td className={styles.total}>{km(table.totalMm)}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

function CellButton({ cell, km, onClick }: { readonly cell: DayTableCell; readonly km: string; readonly onClick: () => void }) {
  const t = useTranslations('days')
  if (cell.distanceMm === null && cell.late === 0) return <span className={styles.unknown}>–</span>
  return (
    <button type="button" className={styles.cell} onClick={onClick} data-late={cell.late} data-version={cell.versions.at(-1)}>
      {cell.versions.length > 0 && <small title={t('versions', { versions: cell.versions.join(', ') })}>v{cell.versions.at(-1)}</small>}
      <b>{km}</b>
      {cell.late > 0 && (
        <em title={t('late', { count: cell.late })}>
          <span className="visually-hidden">{t('late', { count: cell.late })}</span>
          <span aria-hidden="true">+{cell.late}</span>
        </em>
      )}
    </button>
  )
}

function SortHead(props: {
  readonly by: SortKey
  /** How it is sorted when asked for the first time: largest first? */
  readonly first: boolean
  readonly sorting: Sorting
  readonly onSorting: (sorting: Sorting) => void
  readonly children: React.ReactNode
}) {
  const { by, sorting } = props
  const isBy = sorting.by === by
  return (
    <th scope="col" aria-sort={isBy ? (sorting.descending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => props.onSorting({ by, descending: isBy ? !sorting.descending : props.first })}>
        {props.children}
        <i aria-hidden="true">{isBy ? (sorting.descending ? '▾' : '▴') : ''}</i>
      </button>
    </th>
  )
}
