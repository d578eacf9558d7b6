'use client'

import type { SessionView, SignInCommand } from '@km0/contracts/sign-in'
import { useTranslations } from 'next-intl'
import { type FormEvent, useId, useState } from 'react'
import form from '../shell/form.module.css'
import { enter } from './enter.ts'
import styles from './entry.module.css'
import { tokenOf } from './way-back.ts'

/** Address and password, or a one-time link; the same on the page of signing in and over a page whose session has ended. */
export function EntryForm(props: { readonly email: string; readonly onIn: (session: NonNullable<SessionView['session']>) => void }) {
  const t = useTranslations('entry')
  const id = useId()
  const [byLink, setByLink] = useState(false)
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)

  const send = async (command: SignInCommand) => {
    setSending(true)
    setFailure(null)
    const entry = await enter(command)
    setSending(false)
    if (entry.kind === 'in') props.onIn(entry.session)
    else if (entry.kind === 'wait') setFailure(t('tooMany', { minutes: entry.minutes }))
    else if (entry.kind === 'offline') setFailure(t('offline'))
    else setFailure(t('link' in command ? 'refusedLink' : 'refusedPassword'))
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (sending) return
    const given = new FormData(event.currentTarget)
    const text = (name: string) => String(given.get(name) ?? '')
    if (!byLink) return void send({ email: text('email').trim(), password: text('password') })
    const link = tokenOf(text('link'))
    if (link === null) setFailure(t('refusedLink'))
    else void send({ link })
  }
  return (
    <form className={form.form} onSubmit={submit}>
      {byLink ? (
        <label className={form.field} htmlFor={`${id}-link`}>
          <span>{t('link')}</span>
          <input id={`${id}-link`} name="link" required autoComplete="off" placeholder={t('pasteHint')} />
        </label>
      ) : (
        <>
          <label className={form.field} htmlFor={`${id}-email`}>
            <span>{t('email')}</span>
            <input id={`${id}-email`} name="email" type="email" required autoComplete="username" defaultValue={props.email} />
          </label>
          <label className={form.field} htmlFor={`${id}-password`}>
            <span>{t('password')}</span>
            <input id={`${id}-password`} name="password" type="password" required maxLength={128} autoComplete="current-password" />
          </label>
        </>
      )}
      {failure !== null && (
        <p className={form.failure} role="alert">
          {t('failed', { reason: failure })}
        </p>
      )}
      <div className={styles.row}>
        <button
          type="button"
          className={form.quiet}
          onClick={() => {
            setByLink(!byLink)
            setFailure(null)
          }}
        >
          {t(byLink ? 'usePassword' : 'useLink')}
        </button>
        <button type="submit" className={form.primary} disabled={sending}>
          {t(sending ? 'sending' : 'send')}
        </button>
      </div>
    </form>
  )
}
