'use client'

import type { BackfillRequest } from '@km0/contracts/backfill'
import type { BackfillTrackView } from '@km0/contracts/backfill-panel'
import dynamic from 'next/dynamic'
import { useTranslations } from 'next-intl'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { EmptyState, LoadingRows } from '../shell/list-state.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import styles from './backfills.module.css'
import type { OwnerDifference } from './prepare-difference.ts'

const TrackMap = dynamic(() => import('./track-map.tsx'), { ssr: false })

const HOUR_MS = 3_600_000
const EVERY_MS = 600_000
/** The server draws no more than two days at a time. */
const LONGEST_MS = 48 * HOUR_MS
const KM = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const

/** The hours of a van that differ, and for vans the old and the new track. */
export function OwnerHours(props: {
  readonly row: OwnerDifference
  readonly request: BackfillRequest
  readonly version: number
  readonly theme: Theme
}) {
  const t = useTranslations('backfills')
  const format = useTimes()
  const { row, request } = props
  const km = (mm: number | null) => (mm === null ? '–' : format.number(mm / 1e6, KM))
  return (
    <div className={styles.ownerHours}>
      <table>
        <thead>
          <tr>
            {(['hour', 'added', 'removed', 'changed', 'before', 'after'] as const).map((column) => (
              <th key={column} scope="col">
                {t(`column.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row.hours.map((hour) => (
            <tr key={hour.hourMs}>
              <th scope="row">{format.dateTime(hour.hourMs, DAY_AND_CLOCK)}</th>
              <td>{hour.added}</td>
              <td>{hour.removed}</td>
              <td>{hour.changed}</td>
              <td>{km(hour.beforeMm)}</td>
              <td>{km(hour.afterMm)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {request.pipeline === 'positions' && <Track {...props} />}
    </div>
  )
}

function Track({ row, version, theme }: { readonly row: OwnerDifference; readonly version: number; readonly theme: Theme }) {
  const t = useTranslations()
  const firstMs = row.hours[0]?.hourMs ?? 0
  const lastMs = Math.min((row.hours.at(-1)?.hourMs ?? 0) + HOUR_MS, firstMs + LONGEST_MS)
  const query = new URLSearchParams({ id: String(version), van: row.owner, fromMs: String(firstMs), toMs: String(lastMs) })
  const { view, line, reason } = usePolled<BackfillTrackView>(`/api/backfills/track?${query}`, () => EVERY_MS)
  if (line === 'failed') return <EmptyState kind="error" title={t('error.title')} hint={reason ?? t('error.hint')} />
  if (view === null) return <LoadingRows rows={3} />
  return (
    <figure className={styles.track} data-before={view.before.length} data-after={view.after.length}>
      <TrackMap track={view} theme={theme} />
      <figcaption>
        {t('backfills.track', { before: view.before.length, after: view.after.length, late: view.after.length - view.before.length })}
      </figcaption>
    </figure>
  )
}
