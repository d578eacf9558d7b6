import { useTranslations } from 'next-intl'
import { shortAge } from '../feed/durations.ts'
import styles from './dispatch-lines.module.css'
import type { Correction } from './prepare-corrections.ts'

/** Known then, known now. */
export function CorrectionWords({ correction }: { readonly correction: Correction }) {
  const t = useTranslations('noSignal')
  return (
    <span className={styles.correction} data-correction={correction.points}>
      {t('corrected', { taken: shortAge(correction.thenMs), now: shortAge(correction.nowMs) })}
    </span>
  )
}
