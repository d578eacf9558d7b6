'use client'

import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import pill from '../feed/feed-pill.module.css'
import { OperatorChip } from '../operator/operator-chip.tsx'
import type { OperatorHandle } from '../operator/use-operator.ts'
import header from '../shell/header.module.css'
import { LocaleSelect } from '../shell/locale-select.tsx'
import { PageLinks } from '../shell/page-links.tsx'
import styles from './ledger.module.css'
import type { LiveLedger } from './use-ledger.ts'

const PILLS = { loading: 'connecting', ready: 'live', stale: 'stale', failed: 'lost' } as const

export function LedgerHeader(props: {
  readonly brand: ReactNode
  readonly line: LiveLedger['line']
  readonly onSwitchTheme: () => void
  readonly theme: string
  readonly operator: OperatorHandle
}) {
  const t = useTranslations()
  return (
    <header className={header.header}>
      {props.brand}
      <PageLinks page="ledger" />
      <div className={`${pill.pill} ${styles.pill}`} data-kind={PILLS[props.line]}>
        <span className={pill.dot} aria-hidden="true" />
        <span className={pill.text} role={props.line === 'ready' ? undefined : 'status'}>
          {t(`ledger.line.${props.line}`)}
        </span>
      </div>
      <div className={header.controls}>
        <OperatorChip operator={props.operator} />
        <button type="button" className={header.button} aria-label={t('shell.theme', { theme: props.theme })} onClick={props.onSwitchTheme}>
          <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
            <circle cx="9" cy="9" r="6.500" />
            <path d="M9 2.500v13a6.500 6.500 0 0 0 0-13z" fill="currentColor" />
          </svg>
        </button>
        <LocaleSelect />
      </div>
    </header>
  )
}
