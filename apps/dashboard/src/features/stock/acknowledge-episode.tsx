'use client'

import type { StockAcknowledgementCommand, StockAcknowledgementView } from '@km0/contracts/stock-panel'
import { useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useId, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import type { OperatorHandle } from '../operator/use-operator.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import type { EpisodeRow } from './prepare-stock.ts'

/** Takes an episode on: a note for everybody, and the first time the name of who writes it. It holds for the episode. */
export function AcknowledgeEpisode(props: {
  readonly row: EpisodeRow | null
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
    if (row === null || sending) return
    const given = new FormData(event.currentTarget)
    setSending(true)
    setFailure(null)
    const reason = await send(row, operator, String(given.get('name') ?? ''), String(given.get('note') ?? ''))
    setSending(false)
    if (reason === undefined) props.onClose()
    else setFailure(reason ?? t('acknowledge.offline'))
  }
  const title = row === null ? '' : t('stock.acknowledgeTitle', { product: row.episode.product, market: row.episode.market })
  return (
    <Dialog open={row !== null} title={title} onClose={props.onClose}>
      <form className={form.form} onSubmit={submit}>
        <p className={form.lead}>{t('stock.acknowledgeLead')}</p>
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
          <textarea id={`${id}-note`} name="note" rows={3} maxLength={500} placeholder={t('stock.notePlaceholder')} />
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

/** undefined when it is stored, else why it is not: in words, or null when there is no line. */
async function send(row: EpisodeRow, operator: OperatorHandle, name: string, note: string): Promise<string | null | undefined> {
  if (operator.operator === null) {
    const named = await operator.setName(name)
    if (!named.ok) return named.reason
  }
  const { product, market, startMs } = row.episode
  const command: StockAcknowledgementCommand = { product, market, startMs, note }
  const answer = await postJson<StockAcknowledgementView>('/api/stock/acknowledgements', command)
  return answer.ok ? undefined : answer.reason
}
