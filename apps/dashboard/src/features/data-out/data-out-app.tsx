'use client'

import type { DataOutView } from '@km0/contracts/data-out'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { PolledState } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { ApiCard } from './api-card.tsx'
import styles from './data-out.module.css'
import { DeliveriesCard } from './deliveries-card.tsx'
import { DownloadsCard } from './downloads-card.tsx'
import { SubscriptionsCard } from './subscriptions-card.tsx'

const BUSY_EVERY_MS = 2_000
const QUIET_EVERY_MS = 10_000

const everyMs = (view: DataOutView | null) =>
  view?.deliveries.some(({ state }) => state === 'waiting') === true ? BUSY_EVERY_MS : QUIET_EVERY_MS

/** What leaves the platform: files, events, reports, and the interface for programs. */
export function DataOutApp(props: { readonly brand: ReactNode; readonly theme: Theme }) {
  const t = useTranslations('dataOut')
  const polled = usePolled<DataOutView>('/api/subscriptions', everyMs)
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const { view } = polled
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="dataOut" line={polled.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('title')}>
        <div className={styles.column}>
          {polled.line !== 'ready' && (
            <section className={card.card}>
              <PolledState polled={polled} rows={6} />
            </section>
          )}
          {view !== null && (
            <>
              <SubscriptionsCard view={view} onChanged={polled.refresh} />
              <DeliveriesCard deliveries={view.deliveries} nowMs={polled.nowMs} onChanged={polled.refresh} />
            </>
          )}
        </div>
        <div className={styles.column}>
          <DownloadsCard />
          <ApiCard />
        </div>
      </main>
    </div>
  )
}
