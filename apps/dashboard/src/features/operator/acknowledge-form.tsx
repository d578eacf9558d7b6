'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import type { Answer } from './post-json.ts'

/**
 * The dialog in which somebody takes something on: a note for everybody. It is open while
 * `subject` is not null; each subject begins afresh. `send` stores the note; the dialog closes when it is stored and says why when it is not.
 */
export function AcknowledgeForm(props: {
  readonly subject: string | null
  readonly title: string
  readonly lead: string
  readonly notePlaceholder: string
  /** null while there is nothing that could be sent. */
  readonly send: ((note: string) => Promise<Answer<unknown>>) | null
  readonly onClose: () => void
}) {
  const t = useTranslations()
  const id = useId()
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const { subject, send } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: each subject begins afresh
  useEffect(() => {
    setSending(false)
    setFailure(null)
  }, [subject])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (send === null || sending) return
    const given = new FormData(event.currentTarget)
    setSending(true)
    setFailure(null)
    const answer = await send(String(given.get('note') ?? ''))
    if (!answer.ok) return fail(answer.reason)
    setSending(false)
    props.onClose()
  }
  const fail = (reason: string | null) => {
    setSending(false)
    setFailure(reason ?? t('acknowledge.offline'))
  }
  return (
    <Dialog open={subject !== null} title={props.title} onClose={props.onClose}>
      <form className={form.form} onSubmit={submit}>
        <p className={form.lead}>{props.lead}</p>
        <label className={form.field} htmlFor={`${id}-note`}>
          <span>
            {t('acknowledge.note')} <small>({t('acknowledge.optional')})</small>
          </span>
          <textarea id={`${id}-note`} name="note" rows={3} maxLength={500} placeholder={props.notePlaceholder} />
        </label>
        {failure !== null && (
          <p className={form.failure} role="alert">
            {t('acknowledge.failed', { reason: failure })}
          </p>
        )}
        <div className={form.actions}>
          <button type="button" className={form.quiet} onClick={props.onClose}>
            {t('acknowledge.cancel')}
          </button>
          <button type="submit" className={form.primary} disabled={sending}>
            {sending ? t('acknowledge.sending') : t('acknowledge.send')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
