import Link from 'next/link'
import { getTranslations } from 'next-intl/server'
import styles from './message.module.css'

export default async function NotFound() {
  const t = await getTranslations('error')
  return (
    <main className={styles.page}>
      <h1>{t('notFound')}</h1>
      <Link href="/" className={styles.action}>
        {t('home')}
      </Link>
    </main>
  )
}
