'use client'

import { useTranslations } from 'next-intl'
import { type ReactNode, useState } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { EmptyState, PolledState } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { useTheme } from '../shell/use-theme.ts'
import styles from './ledger.module.css'
import { LossCard } from './loss-card.tsx'
import { RunsCard } from './runs-card.tsx'
import { StationsCard } from './stations-card.tsx'
import { StepsCard } from './steps-card.tsx'
import { useLedger } from './use-ledger.ts'
import { Verdict } from './verdict.tsx'

/** The ledger: what stood at each station in a span, and what became of every difference. */
export function LedgerApp(props: {
  readonly brand: ReactNode
  readonly theme: Theme
  /** The run that the link names; null: the newest. */
  readonly run: number | null
}) {
  const t = useTranslations()
  const [chosen, setChosen] = useState(props.run)
  const choose = (run: number | null) => {
    window.history.replaceState(null, '', run === null ? window.location.pathname : `?run=${run}`)
    setChosen(run)
  }
  const { list, shown } = useLedger(chosen)
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="ledger" line={list.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('ledger.title')}>
        <div className={styles.report}>
          {list.line !== 'ready' && (
            <section className={card.card}>
              <PolledState polled={list} rows={6} />
            </section>
          )}
          {list.view !== null && list.view.shown === null && (
            <section className={card.card}>
              <EmptyState kind="waiting" title={t('ledger.noneTitle')} hint={t('ledger.none')} />
            </section>
          )}
          {shown !== null && (
            <>
              <Verdict run={shown.run} report={shown.report} nowMs={list.nowMs} stale={list.line === 'stale'} />
              <StationsCard report={shown.report} />
              <StepsCard report={shown.report} />
              <LossCard lost={shown.report.lost} />
            </>
          )}
        </div>
        <RunsCard live={list} chosen={shown?.run.id ?? null} onChoose={choose} />
      </main>
    </div>
  )
}
