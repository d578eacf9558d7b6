'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { Dialog } from './dialog.tsx'
import form from './form.module.css'

/**
 * A dialog with one text that may be left empty, whose button sends a command. It closes when the command was carried out, and says why when it was
 * not. Open while `subject` is not null; each subject begins afresh.
 */
export function NoteDialog(props: {
  readonly subject: string | null
  readonly title: string
  readonly lead: string
  /** What the text is. */
  readonly label: string
  readonly placeholder?: string
  readonly rows: number
  readonly action: string
  readonly sending: string
  /** Resolves with why it was not carried out, null when it was. Absent while there is nothing that could be sent. */
  readonly send: ((text: string) => Promise<string | null>) | null
  readonly onClose: () => void
}) {
  const t = useTranslations('acknowledge')
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
    const refused = await send(String(given.get('note') ?? ''))
    setSending(false)
    if (refused === null) props.onClose()
    else setFailure(refused)
  }
  return (
    <Dialog open={subject !== null} title={props.title} onClose={props.onClose}>
      <form className={form.form} onSubmit={(event) => void submit(event)}>
        <p className={form.lead}>{props.lead}</p>
        <label className={form.field} htmlFor={`${id}-note`}>
          <span>
            {props.label} <small>({t('optional')})</small>
          </span>
          <textarea id={`${id}-note`} name="note" rows={props.rows} maxLength={500} placeholder={props.placeholder} />
        </label>
        {failure !== null && (
          <p className={form.failure} role="alert">
            {failure}
          </p>
        )}
        <div className={form.actions}>
          <button type="button" className={form.quiet} onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className={form.primary} disabled={sending}>
            {sending ? props.sending : props.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
