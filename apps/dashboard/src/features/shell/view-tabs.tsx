import { useTranslations } from 'next-intl'
import type { View } from './place.ts'
import styles from './view-tabs.module.css'

/** On a phone, one view at a time. */
export function ViewTabs(props: { readonly view: View; readonly noSignal: number; readonly onView: (view: View) => void }) {
  const t = useTranslations('shell')
  const pages = useTranslations('pages')
  const tab = (view: View, label: string, path: string, badge = 0) => (
    <button type="button" className={styles.tab} aria-current={props.view === view ? 'page' : undefined} onClick={() => props.onView(view)}>
      <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
        <path d={path} />
      </svg>
      <span>{label}</span>
      {badge > 0 && <span className={styles.badge}>{badge}</span>}
    </button>
  )
  return (
    <nav className={styles.tabs} aria-label={t('views')}>
      {tab('map', t('tabMap'), 'M3 5.5l5.3-2 5.4 2 5.3-2v13l-5.3 2-5.4-2-5.3 2zM8.3 3.5v13M13.7 5.5v13')}
      {tab('no-signal', t('tabNoSignal'), 'M11 19a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM8.2 8.2l5.6 5.6M13.8 8.2l-5.6 5.6', props.noSignal)}
      {tab('distances', t('tabDistances'), 'M3 17l4.5-5 3.5 3 4-7 4 4')}
      <a className={styles.tab} href="/estoc">
        <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
          <path d="M3 3v16M19 3v16M3 18h16M3 10h16M6.500 13h4v5h-4zM11.500 5h4v5h-4z" />
        </svg>
        <span>{pages('stock')}</span>
      </a>
    </nav>
  )
}
