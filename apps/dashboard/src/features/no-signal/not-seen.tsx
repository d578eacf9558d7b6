import { useTranslations } from 'next-intl'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './no-signal.module.css'

/** Registered vans without a point today: out of the way, not out of sight. */
export function NotSeen({ vans, onSelect }: { readonly vans: readonly Van[]; readonly onSelect: (van: string) => void }) {
  const t = useTranslations('noSignal')
  const format = useTimes()
  const date = (ms: number) => format.dateTime(ms, DAY_AND_CLOCK)
  return (
    <details className={styles.notSeen}>
      <summary>
        {t('notSeenTitle')} <span className={styles.quietCount}>{vans.length}</span>
      </summary>
      <ul>
        {vans.map((van) => (
          <li key={van.van}>
            <button type="button" onClick={() => onSelect(van.van)}>
              <span>{van.name}</span>
              <span>{van.lastMs === null ? t('neverSeen') : t('notSeenSince', { date: date(van.lastMs) })}</span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  )
}
