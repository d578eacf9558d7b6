import { type RegisterView, WEEKDAYS } from '@km0/contracts/dispatch'
import type { Depot as DepotRow } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { EmptyState } from '../shell/list-state.tsx'
import { ScrollRegion } from '../shell/scroll-region.tsx'
import { prepareShiftRows, type ShiftRow } from './prepare-register.ts'
import styles from './register.module.css'

/** The week of each depot, its exceptions to come, and what that means now. */
export function ShiftsList(props: {
  readonly view: RegisterView
  readonly nowMs: number
  /** null: whoever looks may not change it. */
  readonly onEdit: ((depot: DepotRow) => void) | null
}) {
  const { view, nowMs } = props
  const t = useTranslations('register')
  const rows = prepareShiftRows(view, nowMs)
  if (rows.length === 0) return <EmptyState kind="waiting" title={t('noDepots')} hint={t('noRowsHint')} />
  return (
    <ScrollRegion className={styles.scroll} labelledBy="register-title">
      <table className={styles.table} aria-labelledby="register-title">
        <thead>
          <tr>
            <th scope="col">{t('depot')}</th>
            {WEEKDAYS.map((day) => (
              <th key={day} scope="col">
                {t(`weekdays.${day}`)}
              </th>
            ))}
            <th scope="col">{t('exceptions')}</th>
            {props.onEdit !== null && (
              <th scope="col">
                <span className="visually-hidden">{t('edit')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Depot key={row.depot.id} row={row} onEdit={props.onEdit} />
          ))}
        </tbody>
      </table>
      <p className={styles.hint}>{t('shiftsHint')}</p>
    </ScrollRegion>
  )
}

function Depot({ row, onEdit }: { readonly row: ShiftRow; readonly onEdit: ((depot: DepotRow) => void) | null }) {
  const t = useTranslations('register')
  const format = useTimes()
  const { depot, week, exceptions, now } = row
  const words = () => {
    if (now === null) return t('noCalendar')
    if (now.shift !== null) return t('onUntil', { time: format.dateTime(now.shift.endMs, DAY_AND_CLOCK) })
    return now.nextMs === null ? t('offOpen') : t('offUntil', { time: format.dateTime(now.nextMs, DAY_AND_CLOCK) })
  }
  return (
    <tr data-calendar={depot.id} data-on={now === null ? 'none' : now.shift !== null}>
      <th scope="row">
        {depot.name}
        <small className={styles.now}>{words()}</small>
      </th>
      {WEEKDAYS.map((day, n) => {
        const hours = week?.[n] ?? []
        return (
          <td key={day}>
            {hours.length === 0 ? <span className={styles.none}>–</span> : hours.map((span) => <div key={span}>{span}</div>)}
          </td>
        )
      })}
      <td className={styles.wide}>
        {exceptions.map(({ date, hours }) => (
          <div key={date}>
            {date}: {hours.length === 0 ? t('dayOff') : hours.join(', ')}
          </div>
        ))}
      </td>
      {onEdit !== null && (
        <td className={styles.actions}>
          <button type="button" aria-label={t('editVan', { van: depot.name })} onClick={() => onEdit(depot)}>
            {t('edit')}
          </button>
        </td>
      )}
    </tr>
  )
}
