'use client'

import type { BackfillRequest } from '@km0/contracts/backfill'
import { useTranslations } from 'next-intl'
import { type FormEvent, useState } from 'react'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import styles from './backfills.module.css'
import { madridInstantMs, madridText, type Preset, presetRange } from './prepare-range.ts'

const PRESETS: readonly Preset[] = ['yesterday', 'week', 'own']
const PIPELINES = ['positions', 'stock'] as const

/** Which hours, and whose. */
export function AskCard(props: { readonly nowMs: number | null; readonly onAsk: (request: BackfillRequest) => void }) {
  const t = useTranslations('backfills')
  const [pipeline, setPipeline] = useState<BackfillRequest['pipeline']>('positions')
  const [preset, setPreset] = useState<Preset>('yesterday')
  const [own, setOwn] = useState({ from: '', to: '' })
  const [owners, setOwners] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const { nowMs } = props
  const choose = (next: Preset) => {
    setPreset(next)
    if (next !== 'own' || own.from !== '' || nowMs === null) return
    const { fromMs, toMs } = presetRange('yesterday', nowMs)
    setOwn({ from: madridText(fromMs), to: madridText(toMs) })
  }
  const ask = (event: FormEvent) => {
    event.preventDefault()
    if (nowMs === null) return
    const range = preset === 'own' ? { fromMs: madridInstantMs(own.from), toMs: madridInstantMs(own.to) } : presetRange(preset, nowMs)
    const { fromMs, toMs } = range
    if (fromMs === null || toMs === null) return setFailure(t('noHour'))
    if (fromMs >= toMs) return setFailure(t('noRange'))
    setFailure(null)
    const names = owners.split(/[,\s]+/).filter(Boolean)
    props.onAsk({ pipeline, fromMs, toMs, owners: names.length === 0 ? null : names })
  }
  return (
    <section className={card.card} aria-labelledby="ask-title">
      <header className={card.head}>
        <h2 id="ask-title">{t('ask')}</h2>
      </header>
      <form className={styles.ask} onSubmit={ask}>
        <Choice
          legend={t('what')}
          name="pipeline"
          values={PIPELINES}
          chosen={pipeline}
          onChoose={setPipeline}
          text={(value) => t(`pipeline.${value}`)}
        />
        <Choice
          legend={t('when')}
          name="preset"
          values={PRESETS}
          chosen={preset}
          onChoose={choose}
          text={(value) => t(`preset.${value}`)}
        />
        {preset === 'own' && (
          <div className={styles.times}>
            {(['from', 'to'] as const).map((end) => (
              <label key={end} className={form.field}>
                <span>{t(end)}</span>
                <input
                  type="datetime-local"
                  step={3600}
                  value={own[end]}
                  onChange={(event) => setOwn({ ...own, [end]: event.target.value })}
                  required
                />
              </label>
            ))}
          </div>
        )}
        <label className={form.field}>
          <span>
            {t(`owners.${pipeline}`)} <small>({t('ownersHint')})</small>
          </span>
          <input name="owners" value={owners} onChange={(event) => setOwners(event.target.value)} autoComplete="off" spellCheck={false} />
        </label>
        {failure !== null && (
          <p className={form.failure} role="alert">
            {failure}
          </p>
        )}
        <button type="submit" className={form.primary} disabled={nowMs === null}>
          {t('look')}
        </button>
      </form>
    </section>
  )
}

function Choice<Value extends string>(props: {
  readonly legend: string
  readonly name: string
  readonly values: readonly Value[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
  readonly text: (value: Value) => string
}) {
  return (
    <fieldset className={styles.choice}>
      <legend className="visually-hidden">{props.legend}</legend>
      {props.values.map((value) => (
        <label key={value} data-chosen={props.chosen === value}>
          <input type="radio" name={props.name} value={value} checked={props.chosen === value} onChange={() => props.onChoose(value)} />
          {props.text(value)}
        </label>
      ))}
    </fieldset>
  )
}
