'use client'

import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import pill from '../feed/feed-pill.module.css'
import type { OperatorHandle } from '../operator/use-operator.ts'
import header from './header.module.css'
import { PageControls } from './page-controls.tsx'
import { type Page, PageLinks } from './page-links.tsx'
import styles from './plain-header.module.css'
import type { Theme } from './theme.ts'
import type { Line } from './use-polled.ts'

const PILLS = { loading: 'connecting', ready: 'live', stale: 'stale', failed: 'lost' } as const

/** The header of a page that asks for its data now and then. */
export function PlainHeader(props: {
  readonly brand: ReactNode
  readonly page: Page
  readonly line: Line
  readonly theme: Theme
  readonly onSwitchTheme: () => void
  readonly operator: OperatorHandle
}) {
  const t = useTranslations('pages')
  return (
    <header className={header.header}>
      {props.brand}
      <PageLinks page={props.page} roles={props.operator.operator?.roles ?? null} />
      <div className={`${pill.pill} ${styles.pill}`} data-kind={PILLS[props.line]}>
        <span className={pill.dot} aria-hidden="true" />
        <span className={pill.text} role={props.line === 'ready' ? undefined : 'status'}>
          {t(`line.${props.line}`)}
        </span>
      </div>
      <PageControls operator={props.operator} theme={props.theme} onSwitchTheme={props.onSwitchTheme} />
    </header>
  )
}
