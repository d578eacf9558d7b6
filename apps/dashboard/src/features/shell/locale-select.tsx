'use client'

import { useRouter } from 'next/navigation'
import { useLocale, useTranslations } from 'next-intl'
import { LOCALE_COOKIE, LOCALES } from '../../i18n/locales.ts'
import styles from './locale-select.module.css'
import { rememberCookie } from './use-theme.ts'

const NAMES = { ca: 'Català', es: 'Español', en: 'English' } as const

export function LocaleSelect() {
  const t = useTranslations('shell')
  const locale = useLocale()
  const router = useRouter()
  return (
    <label className={styles.select}>
      <span className="visually-hidden">{t('language')}</span>
      <span className={styles.code} aria-hidden="true">
        {locale.toUpperCase()}
      </span>
      <select
        value={locale}
        onChange={(event) => {
          rememberCookie(LOCALE_COOKIE, event.target.value)
          router.refresh()
        }}
      >
        {LOCALES.map((code) => (
          <option key={code} value={code} lang={code}>
            {NAMES[code]}
          </option>
        ))}
      </select>
    </label>
  )
}
