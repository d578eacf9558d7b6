'use client'

import type { LedgerLoss } from '@km0/contracts/ledger'
import { useTranslations } from 'next-intl'
import { CLOCK_SECONDS } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import styles from './ledger.module.css'

/** Which vans the broker has lost messages of; nothing where it has lost none. */
export function LossCard({ lost }: { readonly lost: readonly LedgerLoss[] }) {
  const t = useTranslations('ledger')
  const format = useTimes()
  if (lost.length === 0) return null
  return (
    <section className={card.card} aria-labelledby="lost">
      <header className={card.head}>
        <h2 id="lost">{t('lostTitle')}</h2>
      </header>
      <table className={styles.losses}>
        <thead>
          <tr>
            <th scope="col">{t('van')}</th>
            <th scope="col">{t('messages')}</th>
            <th scope="col">{t('between')}</th>
          </tr>
        </thead>
        <tbody>
          {lost.map(({ van, count, firstEventMs, lastEventMs }) => (
            <tr key={van}>
              <th scope="row">{van}</th>
              <td>{format.number(count)}</td>
              <td>{`${format.dateTime(firstEventMs, CLOCK_SECONDS)}–${format.dateTime(lastEventMs, CLOCK_SECONDS)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
