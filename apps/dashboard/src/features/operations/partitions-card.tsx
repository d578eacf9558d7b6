'use client'

import type { PartitionView } from '@km0/contracts/operations-panel'
import { useTranslations } from 'next-intl'
import { shortAge } from '../feed/durations.ts'
import { CLOCK_SECONDS } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import { ScrollRegion } from '../shell/scroll-region.tsx'
import styles from './operations.module.css'
import { preparePartitions } from './prepare-shown.ts'

/** How far each partition of positions has come. */
export function PartitionsCard(props: { readonly partitions: readonly PartitionView[]; readonly platformNowMs: number }) {
  const t = useTranslations('operations')
  const format = useTimes()
  const unknown = '–'
  const seconds = (ms: number | null, sign: 'auto' | 'exceptZero' = 'auto') =>
    ms === null ? unknown : t('seconds', { value: format.number(ms / 1_000, { maximumFractionDigits: 1, signDisplay: sign }) })
  return (
    <section className={`${card.card} ${styles.partitions}`} aria-labelledby="partitions">
      <header className={card.head}>
        <h2 id="partitions">{t('partitions')}</h2>
        <span className={card.aside}>{t('perPartition')}</span>
      </header>
      {props.partitions.length === 0 ? (
        <EmptyState kind="waiting" title={t('noPartitionsTitle')} hint={t('noPartitions')} />
      ) : (
        <ScrollRegion className={styles.scroll} label={t('partitions')}>
          <table className={styles.table}>
            <thead>
              <tr>
                {(
                  ['partition', 'lagRecords', 'lag', 'watermark', 'drift', 'rate', 'heartbeat', 'checkpoint', 'size', 'pressure'] as const
                ).map((column) => (
                  <th key={column} scope="col">
                    {t(`column.${column}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {preparePartitions(props.partitions).map((row) => (
                <tr key={row.partition} data-partition={row.partition}>
                  <th scope="row">{row.partition}</th>
                  <td>{row.lagRecords === null ? unknown : format.number(row.lagRecords)}</td>
                  <td data-mark={row.isBehind ? 'watch' : undefined}>{seconds(row.lagMs)}</td>
                  <td>{row.watermarkMs === null ? unknown : format.dateTime(row.watermarkMs, CLOCK_SECONDS)}</td>
                  <td data-mark={row.drifts ? 'watch' : undefined}>{seconds(row.driftMs, 'exceptZero')}</td>
                  <td>
                    {row.recordsPerS === null
                      ? unknown
                      : t('perSecond', { value: format.number(row.recordsPerS, { maximumFractionDigits: row.recordsPerS < 10 ? 1 : 0 }) })}
                  </td>
                  <td>{row.heartbeatMs === null ? unknown : shortAge(props.platformNowMs - row.heartbeatMs)}</td>
                  <td data-mark={row.isCheckpointOld ? 'watch' : undefined}>
                    {row.checkpointAgeMs === null ? unknown : shortAge(row.checkpointAgeMs)}
                  </td>
                  <td>
                    {row.checkpointBytes === null
                      ? unknown
                      : t('kib', { value: format.number(row.checkpointBytes / 1_024, { maximumFractionDigits: 0 }) })}
                  </td>
                  <td>{row.backpressure === null ? unknown : format.number(row.backpressure, { style: 'percent' })}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </section>
  )
}
