'use client'

import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import pill from '../feed/feed-pill.module.css'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import type { OperatorHandle } from '../operator/use-operator.ts'
import header from '../shell/header.module.css'
import { PageControls } from '../shell/page-controls.tsx'
import { PageLinks } from '../shell/page-links.tsx'
import type { Theme } from '../shell/theme.ts'
import styles from './stock.module.css'
import type { LiveStock } from './use-stock.ts'

export interface StockHeaderProps {
  readonly brand: ReactNode
  readonly live: LiveStock
  readonly market: string | null
  readonly onMarket: (market: string | null) => void
  readonly theme: Theme
  readonly onSwitchTheme: () => void
  readonly operator: OperatorHandle
}

export function StockHeader(props: StockHeaderProps) {
  const t = useTranslations()
  return (
    <header className={header.header}>
      {props.brand}
      <PageLinks page="stock" roles={props.operator.operator?.roles ?? null} />
      <label className={styles.market}>
        <span className="visually-hidden">{t('stock.market')}</span>
        <select value={props.market ?? ''} onChange={(event) => props.onMarket(event.target.value === '' ? null : event.target.value)}>
          <option value="">{t('stock.allMarkets')}</option>
          {(props.live.model?.markets ?? []).map((market) => (
            <option key={market}>{market}</option>
          ))}
        </select>
      </label>
      <StockPill live={props.live} />
      <PageControls operator={props.operator} theme={props.theme} onSwitchTheme={props.onSwitchTheme} />
    </header>
  )
}

/** Whether what is shown is now, and up to when no alert is missing. */
function StockPill({ live }: { readonly live: LiveStock }) {
  const t = useTranslations('stock')
  const format = useTimes()
  const { model, connection } = live
  const kind = connection === 'connected' ? 'live' : connection === 'connecting' ? 'connecting' : connection === 'quiet' ? 'stale' : 'lost'
  return (
    <div className={`${pill.pill} ${styles.pill}`} data-kind={kind}>
      <span className={pill.dot} aria-hidden="true" />
      <span className={pill.text} role={kind === 'live' ? undefined : 'status'}>
        {t(`line.${kind}`)}
      </span>
      {kind === 'live' && model?.watermarkMs != null && (
        <span className={pill.age}>{t('upTo', { time: format.dateTime(model.watermarkMs, CLOCK) })}</span>
      )}
    </div>
  )
}
