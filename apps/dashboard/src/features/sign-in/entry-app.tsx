'use client'

import type { SessionView } from '@km0/contracts/sign-in'
import { useTranslations } from 'next-intl'
import { type ReactNode, useEffect, useState } from 'react'
import form from '../shell/form.module.css'
import { LocaleSelect } from '../shell/locale-select.tsx'
import type { Theme } from '../shell/theme.ts'
import { enter } from './enter.ts'
import styles from './entry.module.css'
import { EntryForm } from './entry-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { sessionLine } from './session-line.ts'
import { tokenOf } from './way-back.ts'

type Session = NonNullable<SessionView['session']>

/**
 * The page of signing in. A one-time link brings its token in the fragment, which no server sees; it is used only when somebody asks for it, so that
 * a program that looks at links in mail does not use it up.
 */
export function EntryApp(props: {
  readonly brand: ReactNode
  readonly theme: Theme
  readonly next: string
  readonly wallRefused: boolean
  /** Somebody who is in wants another password. */
  readonly changing: boolean
}) {
  const t = useTranslations('entry')
  const { next, changing } = props
  const [token, setToken] = useState<string | null>(null)
  const [session, setSession] = useState<Session | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const go = () => window.location.assign(next)

  useEffect(() => {
    const given = tokenOf(window.location.hash)
    setToken(given)
    // Not kept in the history of the browser.
    if (given !== null) window.history.replaceState(null, '', window.location.pathname + window.location.search)
    else
      void sessionLine.read().then(() => {
        const known = sessionLine.session ?? null
        if (known === null) return
        if (changing && known.kind === 'person') setSession(known)
        else window.location.replace(next)
      })
  }, [next, changing])

  const arrived = (found: Session) => {
    setToken(null)
    if (found.mayChoosePassword) setSession(found)
    else go()
  }
  const enterBy = async (link: string) => {
    const entry = await enter({ link })
    if (entry.kind === 'in') return arrived(entry.session)
    setToken(entry.kind === 'offline' ? link : null)
    setFailure(entry.kind === 'wait' ? t('tooMany', { minutes: entry.minutes }) : t(entry.kind === 'offline' ? 'offline' : 'refusedLink'))
  }
  const title = session !== null ? t('chooseTitle') : token !== null ? t('linkTitle') : t('title')
  return (
    <main className={styles.page}>
      <div className={styles.brand}>{props.brand}</div>
      <section className={styles.card} aria-labelledby="entry-title">
        <h1 id="entry-title">{title}</h1>
        {props.wallRefused && <p className={form.failure}>{t('wall')}</p>}
        {failure !== null && (
          <p className={form.failure} role="alert">
            {t('failed', { reason: failure })}
          </p>
        )}
        {session !== null ? (
          <PasswordForm email={session.email ?? ''} askCurrent={!session.mayChoosePassword} later={t('later')} onLater={go} />
        ) : token !== null ? (
          <>
            <p className={form.lead}>{t('linkLead')}</p>
            <div className={form.actions}>
              <button type="button" className={form.primary} onClick={() => void enterBy(token)}>
                {t('linkSend')}
              </button>
            </div>
          </>
        ) : (
          <>
            <p className={form.lead}>{t('lead')}</p>
            <EntryForm email="" onIn={arrived} />
            <p className={styles.help}>
              {t('help')} <code>pnpm km0 user link</code>
            </p>
          </>
        )}
      </section>
      <LocaleSelect />
    </main>
  )
}
