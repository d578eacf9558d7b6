import { useTranslations } from 'next-intl'
import styles from './brand.module.css'

/** The milestone of kilometre zero. */
export function Brand() {
  const t = useTranslations('app')
  return (
    <h1 className={styles.brand}>
      <svg width="22" height="26" viewBox="0 0 22 26" aria-hidden="true">
        <path className={styles.stone} d="M2 25V11a9 9 0 0 1 18 0v14z" />
        <path className={styles.cap} d="M2 12v-1a9 9 0 0 1 18 0v1z" />
        <circle className={styles.zero} cx="11" cy="18.4" r="3" />
      </svg>
      <span>{t('name')}</span>
    </h1>
  )
}
