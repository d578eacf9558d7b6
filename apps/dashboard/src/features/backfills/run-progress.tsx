import type { BackfillProgress } from '@km0/contracts/backfill'
import { useTranslations } from 'next-intl'
import { clockDuration } from '../feed/durations.ts'
import { useTimes } from '../feed/use-times.ts'
import styles from './backfills.module.css'

const DAY_MS = 86_400_000

/** How far a run is, day by day, how fast, and how long it will take. */
export function RunProgress({ progress, rows }: { readonly progress: BackfillProgress; readonly rows: number }) {
  const t = useTranslations('backfills')
  const format = useTimes()
  const { points, pointsDone, pointsPerSecond, leftMs, state, pieces, piecesDone } = progress
  const share = points === 0 ? (state === 'ready' ? 1 : 0) : pointsDone / points
  return (
    <div className={styles.progress}>
      <progress value={share} max={1} aria-label={t('progress')} />
      <p>
        <b>{format.number(share, { style: 'percent' })}</b> {t('pieces', { done: piecesDone, all: pieces })}
        {state === 'running' && pointsPerSecond !== null && ` · ${t('rate', { rate: Math.round(pointsPerSecond) })}`}
        {state === 'running' && leftMs !== null && ` · ${t('left', { time: clockDuration(leftMs) })}`}
        {state === 'ready' && ` · ${t('rowsWritten', { rows })}`}
      </p>
      {progress.days.length > 1 && (
        <ol className={styles.progressDays}>
          {progress.days.map((day) => (
            <li key={day.dayMs}>
              <span>{format.dateTime(day.dayMs + DAY_MS / 2, { weekday: 'short', day: 'numeric' })}</span>
              <progress
                value={day.points === 0 ? 1 : day.pointsDone / day.points}
                max={1}
                aria-label={format.dateTime(day.dayMs + DAY_MS / 2, { day: 'numeric', month: 'long' })}
              />
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}
