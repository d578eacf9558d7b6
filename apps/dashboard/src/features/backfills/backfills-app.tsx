'use client'

import type { BackfillsView } from '@km0/contracts/backfill-panel'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { EmptyState, PolledState } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { AskCard } from './ask-card.tsx'
import styles from './backfills.module.css'
import type { BackfillsPlace } from './backfills-place.ts'
import { HistoryCard } from './history-card.tsx'
import { NightsCard } from './nights-card.tsx'
import { PreviewCard } from './preview-card.tsx'
import { ProposalsCard } from './proposals-card.tsx'
import { useBackfillsPlace } from './use-backfills-place.ts'
import { VersionView } from './version-view.tsx'

const BUSY_EVERY_MS = 1_500
const QUIET_EVERY_MS = 10_000
const isBusy = (view: BackfillsView | null) => view?.backfills.some(({ state }) => state === 'running') === true

/** Backfills: what is incomplete, what a backfill would do, what it did, and the way back. */
export function BackfillsApp(props: { readonly brand: ReactNode; readonly theme: Theme; readonly place: BackfillsPlace }) {
  const t = useTranslations()
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [place, go] = useBackfillsPlace(props.place)
  const live = usePolled<BackfillsView>('/api/backfills', (view) => (isBusy(view) ? BUSY_EVERY_MS : QUIET_EVERY_MS))
  const { view, line } = live
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="backfills" line={line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('backfills.title')} data-stale={line === 'stale'}>
        <div className={styles.side}>
          <AskCard nowMs={view === null ? null : live.nowMs} onAsk={(request) => go({ kind: 'preview', request })} />
          {line !== 'ready' && (
            <section className={card.card}>
              <PolledState polled={live} rows={4} />
            </section>
          )}
          {view !== null && (
            <>
              <ProposalsCard dirty={view.dirty} onAsk={(request) => go({ kind: 'preview', request })} />
              <NightsCard nights={view.nights} onChoose={(id) => go({ kind: 'version', id })} />
              <HistoryCard view={view} chosen={place.kind === 'version' ? place.id : null} onChoose={(id) => go({ kind: 'version', id })} />
            </>
          )}
        </div>
        <div className={styles.detail}>
          {place.kind === 'nothing' && (
            <section className={card.card}>
              <EmptyState kind="waiting" title={t('backfills.nothingTitle')} hint={t('backfills.nothing')} />
            </section>
          )}
          {place.kind === 'preview' && (
            <PreviewCard
              request={place.request}
              onRun={(id) => {
                go({ kind: 'version', id })
                live.refresh()
              }}
            />
          )}
          {place.kind === 'version' && <VersionView key={place.id} id={place.id} theme={theme} onChanged={live.refresh} />}
        </div>
      </main>
    </div>
  )
}
