'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import type { FormProblem } from './prepare-forms.ts'

export interface RegisterDialogProps {
  readonly title: string
  readonly lead: string
  readonly path: string
  /** What is sent, or what is wrong with it. */
  readonly body: (given: FormData) => object | FormProblem
  /** What takes it out of the register; null for what is new, or always there. */
  readonly remove: { readonly kind: 'depots' | 'markets'; readonly id: string } | null
  readonly onStored: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form of one thing of the register. It closes when it was stored; otherwise it says why not, and everything typed is still there. */
export function RegisterDialog(props: RegisterDialogProps) {
  const t = useTranslations('register')
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const [sure, setSure] = useState(false)
  useEffect(() => setFailure(null), [])
  const send = async (path: string, body: object) => {
    if (sending) return
    setSending(true)
    setFailure(null)
    const answer = await postJson(path, body)
    setSending(false)
    if (!answer.ok) return setFailure(answer.reason ?? t('offline'))
    props.onStored()
    props.onClose()
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const body = props.body(new FormData(event.currentTarget))
    if ('problem' in body) setFailure(t(`problem.${body.problem as FormProblem['problem']}`, { what: (body as FormProblem).what }))
    else void send(props.path, body)
  }
  const { remove } = props
  return (
    <Dialog open title={props.title} onClose={props.onClose}>
      <form className={form.form} onSubmit={submit}>
        <p className={form.lead}>{props.lead}</p>
        {props.children}
        {failure !== null && (
          <p className={form.failure} role="alert">
            {t('failed', { reason: failure })}
          </p>
        )}
        <div className={form.actions}>
          {remove !== null && (
            <button
              type="button"
              className={form.quiet}
              disabled={sending}
              onBlur={() => setSure(false)}
              onClick={() => (sure ? void send('/api/register/remove', remove) : setSure(true))}
            >
              {sure ? t('removeSure') : t('remove')}
            </button>
          )}
          <button type="button" className={form.quiet} onClick={props.onClose}>
            {t('leave')}
          </button>
          <button type="submit" className={form.primary} disabled={sending}>
            {t('store')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
