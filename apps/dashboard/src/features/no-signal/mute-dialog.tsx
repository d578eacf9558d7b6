'use client'

import type { MuteView } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useState } from 'react'
import { CLOCK, DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { postJson } from '../operator/post-json.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './dispatch-lines.module.css'
import { muteChoices } from './prepare-mute.ts'

/** Whoever mutes says of what (the van, or its whole depot), until when and why. Everybody sees it. */
export function MuteDialog({ van, nowMs, onClose }: { readonly van: Van | null; readonly nowMs: number; readonly onClose: () => void }) {
  const t = useTranslations('mute')
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const subject = van?.van ?? null
  // biome-ignore lint/correctness/useExhaustiveDependencies: each van begins afresh
  useEffect(() => {
    setSending(false)
    setFailure(null)
  }, [subject])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (van === null || sending) return
    const given = new FormData(event.currentTarget)
    const untilMs = muteChoices(van, nowMs).find(({ key }) => key === given.get('until'))?.untilMs ?? null
    const kind = given.get('kind') === 'depot' && van.depotId !== null ? 'depot' : 'van'
    setSending(true)
    setFailure(null)
    const answer = await postJson<MuteView>('/api/mutes', {
      kind,
      subject: kind === 'depot' ? van.depotId : van.van,
      untilMs,
      note: String(given.get('note') ?? ''),
    })
    setSending(false)
    if (answer.ok) onClose()
    else setFailure(answer.reason ?? t('offline'))
  }
  return (
    <Dialog open={van !== null} title={t('title', { van: van?.name ?? '' })} onClose={onClose}>
      {van !== null && (
        <form className={form.form} onSubmit={submit}>
          <p className={form.lead}>{t('lead')}</p>
          {van.depotId !== null && (
            <fieldset className={styles.choices}>
              <legend>{t('what')}</legend>
              <label>
                <input type="radio" name="kind" value="van" defaultChecked /> {t('theVan', { van: van.name })}
              </label>
              <label>
                <input type="radio" name="kind" value="depot" /> {t('theDepot', { depot: van.depotName ?? van.depotId })}
              </label>
            </fieldset>
          )}
          <Untils van={van} nowMs={nowMs} />
          <label className={form.field}>
            <span>{t('note')}</span>
            <textarea name="note" rows={2} maxLength={500} placeholder={t('notePlaceholder')} />
          </label>
          {failure !== null && (
            <p className={form.failure} role="alert">
              {t('failed', { reason: failure })}
            </p>
          )}
          <div className={form.actions}>
            <button type="button" className={form.quiet} onClick={onClose}>
              {t('cancel')}
            </button>
            <button type="submit" className={form.primary} disabled={sending}>
              {t('send')}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function Untils({ van, nowMs }: { readonly van: Van; readonly nowMs: number }) {
  const t = useTranslations('mute')
  const format = useTimes()
  return (
    <fieldset className={styles.choices}>
      <legend>{t('until')}</legend>
      {muteChoices(van, nowMs).map(({ key, untilMs }) => (
        <label key={key}>
          <input type="radio" name="until" value={key} defaultChecked={key === 'hour'} /> {t(`untils.${key}`)}
          {untilMs !== null && <small>{format.dateTime(untilMs, untilMs - nowMs > 12 * 3_600_000 ? DAY_AND_CLOCK : CLOCK)}</small>}
        </label>
      ))}
    </fieldset>
  )
}
