import type { VanTrackHeader } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import styles from './van-page.module.css'

/** What the track lacks, and what to do about it; nothing when it lacks nothing. */
export function LakeNotice(props: {
  readonly line: 'loading' | 'ready' | 'failed'
  readonly header: VanTrackHeader | null
  readonly reason: string | null
  readonly shown: number
}) {
  const t = useTranslations('vanPage')
  const { line, header, reason, shown } = props
  if (line === 'loading') return <p className={styles.notes}>{t('trackLoading')}</p>
  if (line === 'failed') {
    return (
      <p className={styles.notes} data-alarm="true" role="status">
        {t('trackFailed')} {reason}
      </p>
    )
  }
  if (header?.why != null) {
    return (
      <p className={styles.notes} data-lake={header.why.kind} role="status">
        {t('trackStore')} <span lang="en">{header.why.says}</span>
      </p>
    )
  }
  if (header !== null && header.pointCount > shown)
    return <p className={styles.notes}>{t('trackThinned', { shown, count: header.pointCount })}</p>
  return null
}
