'use client'

import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { FeedPill } from '../feed/feed-pill.tsx'
import type { FeedStatus } from '../feed/prepare-feed.ts'
import type { Connection } from '../feed/use-live.ts'
import { OperatorChip } from '../operator/operator-chip.tsx'
import type { OperatorHandle } from '../operator/use-operator.ts'
import styles from './header.module.css'
import { LocaleSelect } from './locale-select.tsx'
import { PageLinks } from './page-links.tsx'
import type { Counters } from './prepare-counters.ts'
import { StateIcon } from './state-icon.tsx'
import type { Theme } from './theme.ts'

export interface HeaderProps {
  readonly brand: ReactNode
  /** null while nothing is known: a zero would be a lie. */
  readonly counters: Counters | null
  readonly feed: FeedStatus | null
  readonly connection: Connection
  readonly playing: boolean
  readonly nowMs: number
  readonly theme: Theme
  readonly onSwitchTheme: () => void
  readonly operator: OperatorHandle
  readonly search: ReactNode
}

export function Header(props: HeaderProps) {
  const t = useTranslations()
  const { counters } = props
  return (
    <header className={styles.header}>
      {props.brand}
      <PageLinks page="fleet" />
      <div className={styles.search}>{props.search}</div>
      <dl className={styles.counters} aria-label={t('shell.counters')}>
        <div>
          <dt>
            <StateIcon state="moving" />
            <span>{t('state.moving')}</span>
          </dt>
          <dd data-counter="moving">{counters?.moving ?? '–'}</dd>
        </div>
        <div>
          <dt>
            <StateIcon state="stopped" />
            <span>{t('state.stopped')}</span>
          </dt>
          <dd data-counter="stopped">{counters?.stopped ?? '–'}</dd>
        </div>
        <div data-alarm={(counters?.noSignal ?? 0) > 0}>
          <dt>
            <StateIcon state="silent" />
            <span>{t('state.noSignal')}</span>
          </dt>
          <dd data-counter="no-signal">{counters?.noSignal ?? '–'}</dd>
        </div>
        {counters !== null && counters.unknown > 0 && (
          <div>
            <dt>
              <StateIcon state="unknown" />
              <span>{t('state.unknown')}</span>
            </dt>
            <dd data-counter="unknown">{counters.unknown}</dd>
          </div>
        )}
      </dl>
      <FeedPill feed={props.feed} connection={props.connection} playing={props.playing} nowMs={props.nowMs} />
      <div className={styles.controls}>
        <OperatorChip operator={props.operator} />
        <button type="button" className={styles.button} aria-label={t('shell.theme', { theme: props.theme })} onClick={props.onSwitchTheme}>
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
    </header>
  )
}
