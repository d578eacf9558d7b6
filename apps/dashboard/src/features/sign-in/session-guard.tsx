'use client'

import type { SessionView } from '@km0/contracts/sign-in'
import { useTranslations } from 'next-intl'
import { useEffect, useRef } from 'react'
import { postJson } from '../operator/post-json.ts'
import dialog from '../shell/dialog.module.css'
import form from '../shell/form.module.css'
import { EntryForm } from './entry-form.tsx'
import { sessionLine } from './session-line.ts'
import { useSession, useSessionLost } from './use-session.ts'

/** A person who does something makes the session longer, at most so often. */
const RENEW_EVERY_MS = 120_000
/** A session that was ended elsewhere is noticed within this, also on a page without a socket. */
const LOOK_EVERY_MS = 30_000
/** A browser's timers do not go further. */
const LONGEST_TIMER_MS = 2_000_000_000

/**
 * Stands on every page, beside its content. While somebody does something it renews the session; when the session has ended, it asks to sign in
 * again, over the page, which stays as it is underneath. A wall screen can only be told so.
 */
export function SessionGuard() {
  const t = useTranslations('session')
  const session = useSession()
  const lost = useSessionLost()
  const element = useRef<HTMLDialogElement>(null)
  useRenewal(session)
  useEffect(() => {
    const shown = element.current
    if (shown === null) return
    if (lost && !shown.open) shown.showModal()
    if (!lost && shown.open) shown.close()
  }, [lost])
  const isWall = session?.kind === 'wall'
  return (
    // Not closed by Escape: underneath there is nothing that could be done.
    <dialog
      ref={element}
      className={dialog.dialog}
      aria-labelledby="session-lost"
      onCancel={(event) => event.preventDefault()}
      onClose={() => {
        if (sessionLine.isLost) element.current?.showModal()
      }}
    >
      {lost && (
        <div className={dialog.body}>
          <h2 id="session-lost">{t(isWall ? 'wallLostTitle' : 'lostTitle')}</h2>
          <div className={form.form}>
            <p className={form.lead}>{t(isWall ? 'wallLostLead' : 'lostLead')}</p>
            {!isWall && <EntryForm email={session?.email ?? ''} onIn={(found) => sessionLine.take(found)} />}
          </div>
        </div>
      )}
    </dialog>
  )
}

function useRenewal(session: SessionView['session']): void {
  const expiresAtMs = session?.expiresAtMs ?? null
  const isPerson = session?.kind === 'person'
  useEffect(() => {
    if (session === null) return
    const look = () => void sessionLine.read()
    const every = setInterval(look, LOOK_EVERY_MS)
    const shown = () => {
      if (document.visibilityState === 'visible') look()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      clearInterval(every)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [session])
  useEffect(() => {
    if (expiresAtMs === null) return
    const end = setTimeout(() => void sessionLine.read(), Math.min(LONGEST_TIMER_MS, Math.max(0, expiresAtMs - Date.now()) + 250))
    return () => clearTimeout(end)
  }, [expiresAtMs])
  useEffect(() => {
    if (!isPerson) return
    let renewedMs = Date.now()
    const used = () => {
      if (Date.now() - renewedMs < RENEW_EVERY_MS || sessionLine.isLost) return
      renewedMs = Date.now()
      void postJson('/api/session/renew', {}).then(() => sessionLine.read())
    }
    const events = ['pointerdown', 'keydown'] as const
    for (const event of events) document.addEventListener(event, used, { passive: true })
    return () => {
      for (const event of events) document.removeEventListener(event, used)
    }
  }, [isPerson])
}
