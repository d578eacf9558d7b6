import { useTranslations } from 'next-intl'
import styles from './page-links.module.css'

const PAGES = [
  ['fleet', '/'],
  ['stock', '/estoc'],
  ['days', '/dies'],
  ['backfills', '/recalculs'],
  ['ledger', '/balanc'],
] as const

export type Page = (typeof PAGES)[number][0]

/** The pages of the panel, and which of them this is. */
export function PageLinks({ page }: { readonly page: Page }) {
  const t = useTranslations('pages')
  return (
    <nav className={styles.links} data-page={page} aria-label={t('title')}>
      {PAGES.map(([name, path]) => (
        <a key={name} href={path} aria-current={name === page ? 'page' : undefined}>
          {t(name)}
        </a>
      ))}
    </nav>
  )
}
