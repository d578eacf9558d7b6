'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, type ReactNode, useEffect } from 'react'
import { useCommand } from '../operator/use-command.ts'
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
  const { open } = props
  const { sending, failure, fail, send } = useCommand()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each opening begins afresh
  useEffect(() => {
    if (open) fail(null)
  }, [open])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const done = await send<Value>(props.path, props.body(new FormData(event.currentTarget)))
    if (done === null) return
    props.onClose()
    props.onDone(done.value)
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
