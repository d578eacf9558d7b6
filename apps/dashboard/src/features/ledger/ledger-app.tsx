'use client'

import { useTranslations } from 'next-intl'
import { type ReactNode, useState } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { EmptyState, LoadingRows } from '../shell/list-state.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { useTheme } from '../shell/use-theme.ts'
import styles from './ledger.module.css'
import { LedgerHeader } from './ledger-header.tsx'
import { LossCard } from './loss-card.tsx'
import { RunsCard } from './runs-card.tsx'
import { StationsCard } from './stations-card.tsx'
import { StepsCard } from './steps-card.tsx'
import { useLedger } from './use-ledger.ts'
import { Verdict } from './verdict.tsx'

/** The ledger: what stood at each station in a span, and what became of every difference. */
export function LedgerApp(props: { readonly brand: ReactNode; readonly theme: Theme }) {
  const t = useTranslations()
  const [chosen, setChosen] = useState<number | null>(null)
  const live = useLedger(chosen)
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const shown = live.view?.shown ?? null
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <LedgerHeader brand={props.brand} line={live.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('ledger.title')}>
        <div className={styles.report}>
          {live.line === 'loading' && (
            <section className={card.card}>
              <LoadingRows rows={6} />
            </section>
          )}
          {live.line === 'failed' && (
            <section className={card.card}>
              <EmptyState kind="error" title={t('error.title')} hint={t('error.hint')} />
            </section>
          )}
          {live.view !== null && shown === null && (
            <section className={card.card}>
              <EmptyState kind="waiting" title={t('ledger.noneTitle')} hint={t('ledger.none')} />
            </section>
          )}
          {shown !== null && (
            <>
              <Verdict run={shown.run} report={shown.report} nowMs={live.nowMs} stale={live.line === 'stale'} />
              <StationsCard report={shown.report} />
              <StepsCard report={shown.report} />
              <LossCard lost={shown.report.lost} />
            </>
          )}
        </div>
        <RunsCard live={live} chosen={shown?.run.id ?? null} onChoose={setChosen} />
      </main>
    </div>
  )
}
