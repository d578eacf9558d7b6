import { useTranslations } from 'next-intl'
import styles from './skip-link.module.css'

export function SkipLink({ target }: { readonly target: string }) {
  const t = useTranslations('shell')
  return (
    <a className={styles.link} href={`#${target}`}>
      {t('skipToLists')}
    </a>
  )
}
