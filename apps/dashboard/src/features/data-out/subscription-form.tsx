'use client'

import { CHANNELS, type Channel, EVENT_KINDS, type SilenceSteps } from '@km0/contracts/data-out'
import { useLocale, useTranslations } from 'next-intl'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import form from '../shell/form.module.css'
import styles from './data-out.module.css'
import { EMPTY_FORM, type SubscriptionForm as Fields, isComplete, subscriptionBody } from './prepare-subscription.ts'

const LOCALES = { ca: 'Català', es: 'Castellano', en: 'English' } as const

/** Asks where to and what. `onDone` gets the secret of a webhook; null for the others. */
export function SubscriptionForm(props: {
  readonly channels: Readonly<Record<Channel, boolean>>
  readonly silenceStepsMs: SilenceSteps
  readonly onCancel: () => void
  readonly onDone: (secret: string | null) => void
}) {
  const t = useTranslations('dataOut')
  const locale = useLocale() as Fields['locale']
  const [fields, setFields] = useState<Fields>({ ...EMPTY_FORM, locale, leastStepMs: props.silenceStepsMs[0] })
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const first = useRef<HTMLInputElement>(null)
  // Whoever asked for the form goes on in it.
  useEffect(() => first.current?.focus(), [])
  const set = (change: Partial<Fields>) => setFields({ ...fields, ...change })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!isComplete(fields)) return
    setBusy(true)
    const answer = await postJson<{ readonly secret: string | null }>('/api/subscriptions', subscriptionBody(fields))
    setBusy(false)
    if (answer.ok) props.onDone(answer.value.secret)
    else setFailure(answer.reason ?? t('noAnswer'))
  }
  const isFolder = fields.channel === 'folder'
  return (
    <form className={`${form.form} ${styles.form}`} onSubmit={(event) => void submit(event)} aria-label={t('addTitle')}>
      <label className={form.field}>
        <span>{t('name')}</span>
        <input
          ref={first}
          value={fields.name}
          maxLength={80}
          placeholder={t('nameHint')}
          onChange={(event) => set({ name: event.target.value })}
          required
        />
      </label>
      <fieldset className={styles.choices}>
        <legend>{t('channel')}</legend>
        {CHANNELS.map((channel) => (
          <label key={channel}>
            <input
              type="radio"
              name="channel"
              value={channel}
              checked={fields.channel === channel}
              disabled={!props.channels[channel]}
              onChange={() => set({ channel })}
            />
            {t(`channels.${channel}`)}
            {!props.channels[channel] && <small>{t('notSet')}</small>}
          </label>
        ))}
      </fieldset>
      {fields.channel !== 'folder' && (
        <label className={form.field}>
          <span>{t(`target.${fields.channel}`)}</span>
          <input
            type={fields.channel === 'webhook' ? 'url' : 'text'}
            inputMode={fields.channel === 'webhook' ? 'url' : 'email'}
            value={fields.target}
            onChange={(event) => set({ target: event.target.value })}
            required
          />
        </label>
      )}
      {fields.channel === 'email' && (
        <label className={form.field}>
          <span>{t('locale')}</span>
          <select value={fields.locale} onChange={(event) => set({ locale: event.target.value as Fields['locale'] })}>
            {Object.entries(LOCALES).map(([code, name]) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {!isFolder && <WhatChoices fields={fields} stepsMs={props.silenceStepsMs} onChange={set} />}
      <div className={styles.report}>
        {!isFolder && (
          <label>
            <input type="checkbox" checked={fields.hasReport} onChange={(event) => set({ hasReport: event.target.checked })} />
            {t('report')}
          </label>
        )}
        {(isFolder || fields.hasReport) && (
          <label>
            {t('reportAt')}
            <input type="time" value={fields.reportAt} onChange={(event) => set({ reportAt: event.target.value })} required />
          </label>
        )}
      </div>
      {(['depots', 'markets'] as const).map((name) => (
        <label key={name} className={form.field}>
          <span>{t(name)}</span>
          <input value={fields[name]} onChange={(event) => set({ [name]: event.target.value })} />
        </label>
      ))}
      {failure !== null && (
        <p className={form.failure} role="alert">
          {failure}
        </p>
      )}
      <div className={form.actions}>
        <button type="button" className={form.quiet} onClick={props.onCancel}>
          {t('cancel')}
        </button>
        <button type="submit" className={form.primary} disabled={busy || !isComplete(fields)}>
          {t('save')}
        </button>
      </div>
    </form>
  )
}

function WhatChoices(props: {
  readonly fields: Fields
  readonly stepsMs: SilenceSteps
  readonly onChange: (change: Partial<Fields>) => void
}) {
  const { fields, onChange } = props
  const t = useTranslations('dataOut')
  const toggle = (kind: Fields['kinds'][number], on: boolean) =>
    onChange({ kinds: EVENT_KINDS.filter((one) => (one === kind ? on : fields.kinds.includes(one))) })
  return (
    <>
      <fieldset className={styles.choices}>
        <legend>{t('what')}</legend>
        {EVENT_KINDS.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={fields.kinds.includes(kind)} onChange={(event) => toggle(kind, event.target.checked)} />
            {t(`kind.${kind}`)}
          </label>
        ))}
      </fieldset>
      {fields.kinds.includes('no-signal') && (
        <fieldset className={styles.choices}>
          <legend>{t('step')}</legend>
          {props.stepsMs.map((step) => (
            <label key={step}>
              <input type="radio" name="step" checked={fields.leastStepMs === step} onChange={() => onChange({ leastStepMs: step })} />
              {t('minutes', { value: step / 60_000 })}
            </label>
          ))}
        </fieldset>
      )}
    </>
  )
}
