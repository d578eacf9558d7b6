'use client'

import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { FeedPill } from '../feed/feed-pill.tsx'
import type { FeedStatus } from '../feed/prepare-feed.ts'
import type { Connection } from '../feed/use-live.ts'
import type { OperatorHandle } from '../operator/use-operator.ts'
import styles from './header.module.css'
import { PageControls } from './page-controls.tsx'
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
      <PageLinks page="fleet" roles={props.operator.operator?.roles ?? null} />
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
      <PageControls operator={props.operator} theme={props.theme} onSwitchTheme={props.onSwitchTheme} />
    </header>
  )
}
