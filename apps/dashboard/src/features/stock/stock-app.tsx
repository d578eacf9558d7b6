'use client'

import { useTranslations } from 'next-intl'
import { type ReactNode, useMemo, useState } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import type { ListStatus } from '../shell/list-state.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { useTheme } from '../shell/use-theme.ts'
import { EpisodesCard } from './episodes-card.tsx'
import { LowCard } from './low-card.tsx'
import { prepareStock, type StockLists } from './prepare-stock.ts'
import styles from './stock.module.css'
import { StockHeader } from './stock-header.tsx'
import { StockToasts } from './stock-toasts.tsx'
import { useMarket } from './use-market.ts'
import { useStock } from './use-stock.ts'

const NOTHING: StockLists = { open: [], ended: [], low: [] }

/** Low stock: what has begun and is not over, and what is below its threshold now. */
export function StockApp(props: { readonly brand: ReactNode; readonly theme: Theme; readonly initialMarket: string | null }) {
  const t = useTranslations('stock')
  const live = useStock()
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [market, setMarket] = useMarket(props.initialMarket)
  const [endedShown, setEndedShown] = useState(false)
  const { model, connection, nowMs } = live
  const lists = useMemo(() => (model === null ? NOTHING : prepareStock(model, market, nowMs)), [model, market, nowMs])
  const status: ListStatus =
    model === null ? (connection === 'failed' ? 'error' : 'loading') : connection === 'connected' ? 'ready' : 'stale'
  const ageMs = model === null ? 0 : Math.max(0, nowMs - model.serverNowMs)
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <StockHeader
        brand={props.brand}
        live={live}
        market={market}
        onMarket={setMarket}
        theme={theme}
        onSwitchTheme={switchTheme}
        operator={operator}
      />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('title')}>
        <EpisodesCard
          lists={lists}
          status={status}
          ageMs={ageMs}
          version={market ?? ''}
          market={market}
          endedShown={endedShown}
          onEndedShown={setEndedShown}
        />
        <LowCard rows={lists.low} status={status} ageMs={ageMs} version={market ?? ''} />
      </main>
      <StockToasts notices={model?.notices ?? null} link={false} />
    </div>
  )
}
