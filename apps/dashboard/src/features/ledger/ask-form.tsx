'use client'

import { LEDGER_MAX_SPAN_MS, type LedgerRunView } from '@km0/contracts/ledger-panel'
import { useTranslations } from 'next-intl'
import { type FormEvent, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import form from '../shell/form.module.css'
import styles from './ledger.module.css'
import { localText, type Preset, spanOf } from './prepare-ledger.ts'

const PRESETS: readonly Preset[] = ['hour', 'six', 'day', 'own']

/** Asks a batch worker for the ledger of a span. */
export function AskForm(props: { readonly platformNowMs: number | null; readonly onAsked: () => void }) {
  const t = useTranslations('ledger')
  const [preset, setPreset] = useState<Preset>('hour')
  const [own, setOwn] = useState({ from: '', to: '' })
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const nowMs = props.platformNowMs
  const span = nowMs === null ? null : spanOf(preset, nowMs, own.from, own.to)
  const tooLong = span !== null && span.toMs - span.fromMs > LEDGER_MAX_SPAN_MS
  const choose = (next: Preset) => {
    setPreset(next)
    if (next === 'own' && own.from === '' && nowMs !== null) setOwn({ from: localText(nowMs - 3_600_000), to: localText(nowMs) })
  }
  const ask = async (event: FormEvent) => {
    event.preventDefault()
    if (span === null || tooLong) return
    setBusy(true)
    const answer = await postJson<LedgerRunView>('/api/ledger', span)
    setBusy(false)
    setFailure(answer.ok ? null : (answer.reason ?? t('noAnswer')))
    if (answer.ok) props.onAsked()
  }
  return (
    <form className={styles.ask} onSubmit={(event) => void ask(event)}>
      <fieldset>
        <legend className="visually-hidden">{t('which')}</legend>
        {PRESETS.map((name) => (
          <label key={name} data-chosen={preset === name}>
            <input type="radio" name="preset" value={name} checked={preset === name} onChange={() => choose(name)} />
            {t(`preset.${name}`)}
          </label>
        ))}
      </fieldset>
      {preset === 'own' && (
        <div className={styles.times}>
          {(['from', 'to'] as const).map((end) => (
            <label key={end} className={form.field}>
              <span>{t(end)}</span>
              <input type="datetime-local" value={own[end]} onChange={(event) => setOwn({ ...own, [end]: event.target.value })} required />
            </label>
          ))}
        </div>
      )}
      {tooLong && (
        <p className={form.failure} role="alert">
          {t('tooLong', { hours: LEDGER_MAX_SPAN_MS / 3_600_000 })}
        </p>
      )}
      {failure !== null && (
        <p className={form.failure} role="alert">
          {failure}
        </p>
      )}
      <button type="submit" className={form.primary} disabled={busy || span === null || tooLong}>
        {t('ask')}
      </button>
    </form>
  )
}
