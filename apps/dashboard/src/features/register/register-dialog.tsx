'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useCommand } from '../operator/use-command.ts'
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
  const { sending, failure, fail, send: command } = useCommand()
  const [sure, setSure] = useState(false)
  const send = async (path: string, body: object) => {
    if ((await command(path, body)) === null) return
    props.onStored()
    props.onClose()
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const body = props.body(new FormData(event.currentTarget))
    if ('problem' in body) fail(t(`problem.${body.problem as FormProblem['problem']}`, { what: (body as FormProblem).what }))
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
