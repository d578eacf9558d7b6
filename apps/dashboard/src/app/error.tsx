'use client'

import { useTranslations } from 'next-intl'
import styles from './message.module.css'

export default function ErrorPage({ reset }: { readonly reset: () => void }) {
  const t = useTranslations('error')
  return (
    <main className={styles.page}>
      <h1>{t('page')}</h1>
      <button type="button" className={styles.action} onClick={reset}>
        {t('reload')}
      </button>
    </main>
  )
}
