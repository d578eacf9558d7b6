import { useFormatter, useTranslations } from 'next-intl'
import { memo } from 'react'
import { StateIcon } from '../shell/state-icon.tsx'
import styles from './distance.module.css'
import type { Deviation, DistanceRow } from './prepare-distances.ts'
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
  const { van, total } = row
  const km = (mm: number) => t('distances.km', { km: format.number(mm / 1e6, { maximumFractionDigits: 2 }) })
  const reason = (deviation: Deviation) =>
    deviation.kind === 'outside'
      ? t('distances.outside')
      : t('distances.far', { km: km(deviation.distanceMm), usual: km(deviation.p99Mm), windows: deviation.windows })
  const missing = row.history.filter((value) => value === null).length
  return (
    <tr
      className={styles.row}
      data-selected={props.selected}
      data-gone={props.gone}
      data-deviates={row.deviations.length > 0}
      data-van={row.key}
    >
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
        {row.deviations.map((deviation) => (
          <span key={deviation.kind} className={styles.reason} data-deviation={deviation.kind} title={reason(deviation)}>
            {reason(deviation)}
          </span>
        ))}
      </th>
      <td className={styles.place}>{van.place ?? '–'}</td>
      <td className={styles.distance}>
        {row.stopped && total === undefined && (
          <span className={styles.stands} title={t('distances.stopped')}>
            <span className="visually-hidden">{t('distances.stopped')}</span>
          </span>
        )}
        {row.distanceMm === null ? (
          <span className={styles.missing} title={t('distances.missing')}>
            –<span className="visually-hidden">{t('distances.missing')}</span>
          </span>
        ) : (
          format.number(row.distanceMm / 1e6, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
        )}
        {total != null && (
          <small className={styles.version} data-versions={total.versions.join(' ')}>
            {total.versions.length === 0
              ? t('distances.live')
              : t('distances.version', { versions: total.versions.join(', '), live: String(total.isLive) })}
          </small>
        )}
        {row.jumps > 0 && total === undefined && (
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
