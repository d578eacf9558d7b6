'use client'

import { useTranslations } from 'next-intl'
import { OperatorChip } from '../operator/operator-chip.tsx'
import type { OperatorHandle } from '../operator/use-operator.ts'
import styles from './header.module.css'
import { LocaleSelect } from './locale-select.tsx'
import type { Theme } from './theme.ts'

/** At the end of each page's header: who sits here, dark or light, which language. */
export function PageControls(props: { readonly operator: OperatorHandle; readonly theme: Theme; readonly onSwitchTheme: () => void }) {
  const t = useTranslations('shell')
  return (
    <div className={styles.controls}>
      <OperatorChip />
      <button type="button" className={styles.button} aria-label={t('theme', { theme: props.theme })} onClick={props.onSwitchTheme}>
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
          {props.theme === 'dark' ? (
            <>
              <circle cx="9" cy="9" r="3.2" />
              <path d="M9 1.5v1.7M9 14.8v1.7M1.5 9h1.7M14.8 9h1.7M3.7 3.7l1.2 1.2M13.1 13.1l1.2 1.2M3.7 14.3l1.2-1.2M13.1 4.9l1.2-1.2" />
            </>
          ) : (
            <path d="M15 10.6A6.4 6.4 0 0 1 7.4 3a6.4 6.4 0 1 0 7.6 7.6z" />
          )}
        </svg>
      </button>
      <LocaleSelect />
    </div>
  )
}
