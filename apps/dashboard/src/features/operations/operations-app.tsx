'use client'

import type { OperationsView } from '@km0/contracts/operations-panel'
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
import { LatenessCard } from './lateness-card.tsx'
import styles from './operations.module.css'
import { PartitionsCard } from './partitions-card.tsx'
import { countTroubles } from './prepare-shown.ts'
import { LedgerCard, RefusedCard } from './refused-card.tsx'
import { ServicesCard } from './services-card.tsx'

const EVERY_MS = 2_000

/** How the platform is: services, partitions, how late positions come, what was refused, whether the ledger balances. */
export function OperationsApp(props: { readonly brand: ReactNode; readonly theme: Theme }) {
  const t = useTranslations('operations')
  const polled = usePolled<OperationsView>('/api/operations', () => EVERY_MS)
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const { view } = polled
  const troubles = view === null ? 0 : countTroubles(view)
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="operations" line={polled.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('title')}>
        {polled.line !== 'ready' && (
          <section className={`${card.card} ${styles.wide}`}>
            <PolledState polled={polled} rows={8} />
          </section>
        )}
        {view !== null && (
          <>
            <section className={`${styles.verdict} ${styles.wide}`} data-mark={troubles === 0 ? 'ok' : 'watch'} aria-labelledby="verdict">
              <h1 id="verdict">{t('verdict', { count: troubles })}</h1>
              {view.checkpoints?.local === true && (
                <p>
                  <b>{t('localTitle')}</b> {t('local')} <code>{view.checkpoints.place}</code>
                </p>
              )}
            </section>
            <div className={styles.column}>
              <ServicesCard services={view.services} nowMs={polled.nowMs} />
              <LatenessCard lateness={view.lateness} platformNowMs={view.platformNowMs} />
            </div>
            <div className={styles.column}>
              <PartitionsCard partitions={view.partitions} platformNowMs={view.platformNowMs} />
              <RefusedCard refused={view.refused} />
              <LedgerCard ledger={view.ledger} nowMs={polled.nowMs} />
            </div>
          </>
        )}
      </main>
    </div>
  )
}
