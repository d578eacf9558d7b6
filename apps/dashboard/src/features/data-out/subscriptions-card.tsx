'use client'

import type { DataOutView, SubscriptionView } from '@km0/contracts/data-out'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import styles from './data-out.module.css'
import { clockOf } from './prepare-subscription.ts'
import { SubscriptionForm } from './subscription-form.tsx'

/** Who gets what, and a form for one more. */
export function SubscriptionsCard({ view, onChanged }: { readonly view: DataOutView; readonly onChanged: () => void }) {
  const t = useTranslations('dataOut')
  const [adding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <section className={card.card} aria-labelledby="subscriptions">
      <header className={card.head}>
        <h2 id="subscriptions">{t('subscriptions')}</h2>
        {!adding && (
          <button type="button" className={`${form.primary} ${styles.add}`} onClick={() => setAdding(true)}>
            {t('add')}
          </button>
        )}
      </header>
      {secret !== null && (
        <div className={styles.secret} role="status">
          <b>{t('secretTitle')}</b>
          <p>{t('secret')}</p>
          <code data-secret="true">{secret}</code>
          <button type="button" className={form.quiet} onClick={() => setSecret(null)}>
            {t('done')}
          </button>
        </div>
      )}
      {adding && (
        <SubscriptionForm
          channels={view.channels}
          silenceStepsMs={view.silenceStepsMs}
          onCancel={() => setAdding(false)}
          onDone={(told) => {
            setAdding(false)
            setSecret(told)
            onChanged()
          }}
        />
      )}
      {view.subscriptions.length === 0 && !adding && <EmptyState kind="waiting" title={t('noneTitle')} hint={t('none')} />}
      <ul className={styles.subscriptions}>
        {view.subscriptions.map((subscription) => (
          <Row key={subscription.id} subscription={subscription} onChanged={onChanged} />
        ))}
      </ul>
    </section>
  )
}

function Row({ subscription, onChanged }: { readonly subscription: SubscriptionView; readonly onChanged: () => void }) {
  const t = useTranslations('dataOut')
  const [failure, setFailure] = useState<string | null>(null)
  const [asked, setAsked] = useState(false)
  const { id, name, channel, target, kinds, leastStepMs, reportMinutes, depots, markets, ownerName, standing } = subscription
  const send = async (path: string) => {
    const answer = await postJson(path, { id })
    setFailure(answer.ok ? null : (answer.reason ?? t('noAnswer')))
    setAsked(false)
    onChanged()
  }
  const what = [
    ...kinds.map((kind) =>
      kind === 'no-signal' ? `${t('kind.no-signal')} (${t('minutes', { value: leastStepMs / 60_000 })})` : t(`kind.${kind}`),
    ),
    ...(reportMinutes === null ? [] : [`${t('kind.report')} ${t('at', { time: clockOf(reportMinutes) })}`]),
  ]
  const only = [...(depots ?? []), ...(markets ?? [])]
  return (
    <li data-subscription={id}>
      <div>
        <p className={styles.name}>
          <b>{name}</b> <span>{t(`channels.${channel}`)}</span>
        </p>
        {target !== '' && <p className={styles.target}>{target}</p>}
        <p className={styles.quiet}>
          {what.join(' · ')} · {depots === null ? t('everything', { owner: ownerName }) : t('only', { what: only.join(', ') })} ·{' '}
          {t('from', { owner: ownerName })}
        </p>
        {standing !== 'active' && (
          <p className={form.failure} data-standing={standing}>
            {t(`standing.${standing}`, { owner: ownerName })}
          </p>
        )}
        {failure !== null && (
          <p className={form.failure} role="alert">
            {failure}
          </p>
        )}
      </div>
      <div className={styles.rowActions}>
        <button
          type="button"
          className={form.quiet}
          aria-label={t('tryItOf', { name })}
          onClick={() => void send('/api/subscriptions/test')}
        >
          {t('tryIt')}
        </button>
        <button
          type="button"
          className={form.quiet}
          aria-label={asked ? undefined : t('removeOf', { name })}
          onBlur={() => setAsked(false)}
          onClick={() => (asked ? void send('/api/subscriptions/remove') : setAsked(true))}
        >
          {asked ? t('sure') : t('remove')}
        </button>
      </div>
    </li>
  )
}
