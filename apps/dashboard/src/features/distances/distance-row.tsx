import { useFormatter, useTranslations } from 'next-intl'
import { memo } from 'react'
import { StateIcon } from '../shell/state-icon.tsx'
import styles from './distance.module.css'
import type { DistanceRow } from './prepare-distances.ts'
import { Sparkline } from './sparkline.tsx'

export interface DistanceRowProps {
  readonly row: DistanceRow
  readonly gone: boolean
  readonly maximum: number
  readonly selected: boolean
  /** The row that the tab key reaches. */
  readonly tabStop: boolean
  readonly onSelect: (van: string) => void
  readonly onActive: (van: string) => void
}

export const DistanceRowView = memo(function DistanceRowView(props: DistanceRowProps) {
  const t = useTranslations()
  const format = useFormatter()
  const { row } = props
  const { van } = row
  const missing = row.history.filter((value) => value === null).length
  return (
    <tr className={styles.row} data-selected={props.selected} data-gone={props.gone} data-van={row.key}>
      <th scope="row" className={styles.van}>
        <button
          type="button"
          data-row={row.key}
          tabIndex={props.tabStop ? 0 : -1}
          aria-current={props.selected ? 'true' : undefined}
          onClick={() => props.onSelect(row.key)}
          onFocus={() => props.onActive(row.key)}
        >
          <StateIcon state={van.state} doubtful={van.doubtful} size={14} />
          <span className={styles.name}>{van.name}</span>
          <span className="visually-hidden">{t(`state.one.${van.state}`)}</span>
        </button>
      </th>
      <td className={styles.place}>{van.place ?? '–'}</td>
      <td className={styles.distance}>
        {row.distanceMm === null ? (
          <span className={styles.missing} title={t('distances.missing')}>
            –<span className="visually-hidden">{t('distances.missing')}</span>
          </span>
        ) : (
          format.number(row.distanceMm / 1e6, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
        )}
        {row.jumps > 0 && (
          <span className={styles.jump} title={t('distances.jumps', { count: row.jumps })}>
            *<span className="visually-hidden">{t('distances.jumps', { count: row.jumps })}</span>
          </span>
        )}
      </td>
      <td className={styles.history}>
        <Sparkline values={row.history} maximum={props.maximum} label={t('distances.sparkline', { van: van.name, missing })} />
      </td>
    </tr>
  )
})
