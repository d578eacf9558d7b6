'use client'

import type { UsersView } from '@km0/contracts/sign-in'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { EmptyState, LoadingRows } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { AuditCard } from './audit-card.tsx'
import { KeysCard } from './keys-card.tsx'
import { PeopleCard } from './people-card.tsx'
import styles from './users.module.css'

const EVERY_MS = 15_000

/** Users, wall screens, tokens, and who did what: for administrators. */
export function UsersApp(props: { readonly brand: ReactNode; readonly theme: Theme }) {
  const t = useTranslations()
  const live = usePolled<UsersView>('/api/users', () => EVERY_MS)
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const { view } = live
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="users" line={live.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('users.title')}>
        {view === null ? (
          <section className={card.card}>
            {live.line === 'failed' ? (
              <EmptyState kind="error" title={t('error.title')} hint={live.reason ?? t('error.hint')} />
            ) : (
              <LoadingRows rows={6} />
            )}
          </section>
        ) : (
          <>
            <PeopleCard view={view} onChanged={live.refresh} />
            <KeysCard kind="wall" view={view} onChanged={live.refresh} />
            <KeysCard kind="token" view={view} onChanged={live.refresh} />
          </>
        )}
        <AuditCard />
      </main>
    </div>
  )
}
