'use client'

import type { AcknowledgementCommand, AcknowledgementView } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import type { OperatorHandle } from '../operator/use-operator.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import type { NoSignalRow } from './prepare-no-signal.ts'

/** Takes a silence on: a note for everybody, and the first time the name of who writes it. */
export function AcknowledgeDialog(props: {
  readonly row: NoSignalRow | null
  readonly operator: OperatorHandle
  readonly onClose: () => void
}) {
  const t = useTranslations()
  const id = useId()
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const { row, operator } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: each row begins afresh
  useEffect(() => {
    setSending(false)
    setFailure(null)
  }, [row?.key])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (row === null || row.van.sinceMs === null || sending) return
    const given = new FormData(event.currentTarget)
    setSending(true)
    setFailure(null)
    if (operator.operator === null) {
      const named = await operator.setName(String(given.get('name') ?? ''))
      if (!named.ok) return fail(named.reason)
    }
    const command: AcknowledgementCommand = { van: row.key, sinceMs: row.van.sinceMs, note: String(given.get('note') ?? '') }
    const answer = await postJson<AcknowledgementView>('/api/acknowledgements', command)
    if (!answer.ok) return fail(answer.reason)
    setSending(false)
    props.onClose()
  }
  const fail = (reason: string | null) => {
    setSending(false)
    setFailure(reason ?? t('acknowledge.offline'))
  }
  return (
    <Dialog open={row !== null} title={t('acknowledge.title', { van: row?.van.name ?? '' })} onClose={props.onClose}>
      <form className={form.form} onSubmit={submit}>
        <p className={form.lead}>{t('acknowledge.lead')}</p>
        {operator.operator === null && (
          <label className={form.field} htmlFor={`${id}-name`}>
            <span>{t('operator.title')}</span>
            <input id={`${id}-name`} name="name" autoComplete="name" required maxLength={60} />
          </label>
        )}
        <label className={form.field} htmlFor={`${id}-note`}>
          <span>
            {t('acknowledge.note')} <small>({t('acknowledge.optional')})</small>
          </span>
          <textarea id={`${id}-note`} name="note" rows={3} maxLength={500} placeholder={t('acknowledge.notePlaceholder')} />
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
