'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, useId, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import form from '../shell/form.module.css'
import styles from './entry.module.css'

/** As the server has it: packages/signin. */
const MIN_CHARACTERS = 12

/** Chooses a password. `askCurrent` is false for who has come by a one-time link. */
export function PasswordForm(props: {
  readonly email: string
  readonly askCurrent: boolean
  readonly later: string
  readonly onLater: () => void
}) {
  const t = useTranslations('entry')
  const id = useId()
  const [sending, setSending] = useState(false)
  const [saved, setSaved] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (sending) return
    const given = new FormData(event.currentTarget)
    setSending(true)
    setFailure(null)
    const current = props.askCurrent ? String(given.get('current') ?? '') : null
    const answer = await postJson('/api/session/password', { current, password: String(given.get('new') ?? '') })
    setSending(false)
    if (answer.ok) setSaved(true)
    else setFailure(answer.reason === null ? t('offline') : props.askCurrent ? t('wrongCurrent') : answer.reason)
  }
  if (saved)
    return (
      <div className={form.form}>
        <p className={form.lead} role="status">
          {t('saved')}
        </p>
        <div className={form.actions}>
          <button type="button" className={form.primary} onClick={props.onLater}>
            Quilòmetre Zero
          </button>
        </div>
      </div>
    )
  return (
    <form className={form.form} onSubmit={(event) => void submit(event)}>
      <p className={form.lead}>{t('chooseLead', { count: MIN_CHARACTERS })}</p>
      {/* Tells a password manager whose it is. */}
      <input type="hidden" name="username" autoComplete="username" value={props.email} readOnly />
      {props.askCurrent && (
        <label className={form.field} htmlFor={`${id}-current`}>
          <span>{t('current')}</span>
          <input id={`${id}-current`} name="current" type="password" required maxLength={128} autoComplete="current-password" />
        </label>
      )}
      <label className={form.field} htmlFor={`${id}-new`}>
        <span>{t('new')}</span>
        <input
          id={`${id}-new`}
          name="new"
          type="password"
          required
          minLength={MIN_CHARACTERS}
          maxLength={128}
          autoComplete="new-password"
        />
      </label>
      {failure !== null && (
        <p className={form.failure} role="alert">
          {t('notSaved', { reason: failure })}
        </p>
      )}
      <div className={styles.row}>
        <button type="button" className={form.quiet} onClick={props.onLater}>
          {props.later}
        </button>
        <button type="submit" className={form.primary} disabled={sending}>
          {t('chooseSend')}
        </button>
      </div>
    </form>
  )
}
