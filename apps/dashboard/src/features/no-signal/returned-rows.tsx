import { useTranslations } from 'next-intl'
import { clockDuration, isoDuration } from '../feed/durations.ts'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { StateIcon } from '../shell/state-icon.tsx'
import { CorrectionWords } from './correction-words.tsx'
import styles from './dispatch-lines.module.css'
import type { ReturnedRow } from './prepare-corrections.ts'

/** Vans that are heard again: they fade, with the length of their silence. */
export function ReturnedRows({ rows, onSelect }: { readonly rows: readonly ReturnedRow[]; readonly onSelect: (van: string) => void }) {
  const t = useTranslations('noSignal')
  const format = useTimes()
  if (rows.length === 0) return null
  return (
    <ul className={styles.returned} aria-label={t('returnedTitle')}>
      {rows.map((row) => (
        // Fading keeps to colours that can be read.
        <li key={row.key} data-returned={row.key} data-fresh={row.fresh > 0.5 ? 'new' : 'old'}>
          <button type="button" onClick={() => onSelect(row.key)}>
            <StateIcon state={row.van.state} size={15} />
            <span>
              <b>{row.van.name}</b>{' '}
              <time dateTime={isoDuration(row.durationMs)}>
                {t('returnedAfter', { duration: clockDuration(row.durationMs), time: format.dateTime(row.endedMs, CLOCK) })}
              </time>
              {row.correction !== null && <CorrectionWords correction={row.correction} />}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
