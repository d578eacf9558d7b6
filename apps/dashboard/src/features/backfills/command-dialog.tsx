'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'

/** A worker may have a queue before it. */
const TIMEOUT_MS = 65_000

/** Asks why, then sends the command; stays open and says so when it is refused. */
export function CommandDialog<Value>(props: {
  readonly open: boolean
  readonly title: string
  readonly lead: string
  readonly action: string
  readonly path: string
  readonly body: (reason: string) => unknown
  readonly onDone: (value: Value) => void
  readonly onClose: () => void
}) {
  const t = useTranslations()
  const id = useId()
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const { open } = props
  useEffect(() => {
    if (open) setFailure(null)
  }, [open])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (sending) return
    const given = new FormData(event.currentTarget)
    setSending(true)
    setFailure(null)
    const refused = await send(given)
    setSending(false)
    setFailure(refused)
  }
  /** Why it was refused; null when it was not. */
  const send = async (given: FormData): Promise<string | null> => {
    const answer = await postJson<Value>(props.path, props.body(String(given.get('reason') ?? '')), TIMEOUT_MS)
    if (!answer.ok) return answer.reason ?? t('acknowledge.offline')
    props.onClose()
    props.onDone(answer.value)
    return null
  }
  return (
    <Dialog open={open} title={props.title} onClose={props.onClose}>
      <form className={form.form} onSubmit={(event) => void submit(event)}>
        <p className={form.lead}>{props.lead}</p>
        <label className={form.field} htmlFor={`${id}-reason`}>
          <span>
            {t('backfills.reason')} <small>({t('acknowledge.optional')})</small>
          </span>
          <textarea id={`${id}-reason`} name="reason" rows={2} maxLength={500} />
        </label>
        {failure !== null && (
          <p className={form.failure} role="alert">
            {failure}
          </p>
        )}
        <div className={form.actions}>
          <button type="button" className={form.quiet} onClick={props.onClose}>
            {t('acknowledge.cancel')}
          </button>
          <button type="submit" className={form.primary} disabled={sending}>
            {sending ? t('backfills.sending') : props.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
