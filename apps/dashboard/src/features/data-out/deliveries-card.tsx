'use client'

import type { DeliveryState, DeliveryView } from '@km0/contracts/data-out'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { isoDuration, shortAge } from '../feed/durations.ts'
import { postJson } from '../operator/post-json.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import { ScrollRegion } from '../shell/scroll-region.tsx'
import styles from './data-out.module.css'
import { deliveriesIn } from './prepare-subscription.ts'

const STATES = ['waiting', 'sent', 'dead'] as const

/** What became of each delivery. */
export function DeliveriesCard(props: {
  readonly deliveries: readonly DeliveryView[]
  readonly nowMs: number
  readonly onChanged: () => void
}) {
  const t = useTranslations('dataOut')
  const [state, setState] = useState<DeliveryState | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const again = async (id: number) => {
    const answer = await postJson('/api/deliveries/again', { id })
    setFailure(answer.ok ? null : (answer.reason ?? t('noAnswer')))
    props.onChanged()
  }
  return (
    <section className={card.card} aria-labelledby="deliveries">
      <header className={card.head}>
        <h2 id="deliveries">{t('log')}</h2>
        <label className={card.aside}>
          {t('filter')}{' '}
          <select
            value={state ?? ''}
            onChange={(event) => setState(event.target.value === '' ? null : (event.target.value as DeliveryState))}
          >
            <option value="">{t('all')}</option>
            {STATES.map((one) => (
              <option key={one} value={one}>
                {t(`state.${one}`)}
              </option>
            ))}
          </select>
        </label>
      </header>
      {failure !== null && (
        <p className={form.failure} role="alert">
          {failure}
        </p>
      )}
      {props.deliveries.length === 0 ? (
        <EmptyState kind="waiting" title={t('noLogTitle')} hint={t('noLog')} />
      ) : (
        <ScrollRegion className={styles.scroll} label={t('log')}>
          <table className={styles.table}>
            <thead>
              <tr>
                {(['what', 'to', 'state', 'when', 'answer', 'again'] as const).map((column) => (
                  <th key={column} scope="col">
                    {column === 'again' ? <span className="visually-hidden">{t('column.again')}</span> : t(`column.${column}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {deliveriesIn(props.deliveries, state).map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} nowMs={props.nowMs} onAgain={() => void again(delivery.id)} />
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </section>
  )
}

function DeliveryRow({
  delivery,
  nowMs,
  onAgain,
}: {
  readonly delivery: DeliveryView
  readonly nowMs: number
  readonly onAgain: () => void
}) {
  const t = useTranslations('dataOut')
  const atMs = delivery.triedAtMs ?? delivery.createdAtMs
  return (
    <tr data-delivery={delivery.id} data-state={delivery.state}>
      <th scope="row">
        {t(`kind.${delivery.kind}`)} <code>{delivery.key}</code>
      </th>
      <td>
        {delivery.subscriptionName} <small>{t(`channels.${delivery.channel}`)}</small>
      </td>
      <td>
        <b>{t(`state.${delivery.state}`)}</b> <small>{t('attempts', { count: delivery.attempts })}</small>
      </td>
      <td>
        <time dateTime={isoDuration(nowMs - atMs)}>{t('ago', { age: shortAge(nowMs - atMs) })}</time>
      </td>
      <td className={styles.answer}>{delivery.answer}</td>
      <td>
        {delivery.state !== 'waiting' && (
          <button type="button" className={form.quiet} aria-label={t('againOf', { key: delivery.key })} onClick={onAgain}>
            {t('again')}
          </button>
        )}
      </td>
    </tr>
  )
}
