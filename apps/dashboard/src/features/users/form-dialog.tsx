'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { type Answer, postJson } from '../operator/post-json.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'

/** A dialog whose fields become a command. It closes when the command was carried out, and says why when it was not. */
export function FormDialog<Value>(props: {
  readonly open: boolean
  readonly title: string
  readonly lead?: string
  readonly action: string
  readonly path: string
  readonly body: (given: FormData) => unknown
  readonly onDone: (value: Value) => void
  readonly onClose: () => void
  readonly children?: ReactNode
}) {
  const t = useTranslations('users')
  const offline = useTranslations('acknowledge')
  const { open } = props
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  useEffect(() => {
    if (open) setFailure(null)
  }, [open])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (sending) return
    setSending(true)
    setFailure(null)
    const answer: Answer<Value> = await postJson<Value>(props.path, props.body(new FormData(event.currentTarget)))
    setSending(false)
    if (!answer.ok) return setFailure(answer.reason ?? offline('offline'))
    props.onClose()
    props.onDone(answer.value)
  }
  return (
    <Dialog open={open} title={props.title} onClose={props.onClose}>
      <form className={form.form} onSubmit={(event) => void submit(event)}>
        {props.lead !== undefined && <p className={form.lead}>{props.lead}</p>}
        {props.children}
        {failure !== null && (
          <p className={form.failure} role="alert">
            {t('failed', { reason: failure })}
          </p>
        )}
        <div className={form.actions}>
          <button type="button" className={form.quiet} onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className={form.primary} disabled={sending}>
            {props.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
