'use client'

import type { OperationsView } from '@km0/contracts/operations-panel'
import { useTranslations } from 'next-intl'
import { shortAge } from '../feed/durations.ts'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import { MarkIcon } from './mark-icon.tsx'
import styles from './operations.module.css'

/** What was refused, by reason. */
export function RefusedCard({ refused }: { readonly refused: OperationsView['refused'] }) {
  const t = useTranslations('operations')
  const format = useTimes()
  const most = Math.max(1, ...refused.rows.map(({ count }) => count))
  return (
    <section className={card.card} aria-labelledby="refused">
      <header className={card.head}>
        <h2 id="refused">{t('refused')}</h2>
        <span className={card.aside}>{t(`refusedSince.${refused.since}`)}</span>
      </header>
      {refused.rows.length === 0 ? (
        <EmptyState kind="ok" title={t('nothingRefusedTitle')} hint={t('nothingRefused')} />
      ) : (
        <ul className={styles.reasons}>
          {refused.rows.map(({ reason, count }) => (
            <li key={reason} data-reason={reason}>
              <span>
                {t.has(`reason.${reason}`) ? t(`reason.${reason}`) : reason} <code>{reason}</code>
              </span>
              <i aria-hidden="true" style={{ inlineSize: `${(count / most) * 100}%` }} />
              <b>{format.number(count)}</b>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Whether the newest ledger balances. */
export function LedgerCard({ ledger, nowMs }: { readonly ledger: OperationsView['ledger']; readonly nowMs: number }) {
  const t = useTranslations('operations')
  const format = useTimes()
  return (
    <section className={card.card} aria-labelledby="ledger">
      <header className={card.head}>
        <h2 id="ledger">{t('ledger')}</h2>
        <a className={`${card.aside} ${styles.more}`} href="/balanc">
          {t('ledgerMore')}
        </a>
      </header>
      {ledger === null ? (
        <EmptyState kind="waiting" title={t('noLedgerTitle')} hint={t('noLedger')} />
      ) : (
        <p className={styles.ledger} data-balanced={ledger.unnamed === 0}>
          <MarkIcon mark={ledger.unnamed === 0 ? 'ok' : 'wrong'} />
          <span>
            <b>{ledger.unnamed === 0 ? t('balanced') : t('unnamed', { count: ledger.unnamed })}</b>
            <small>
              {format.dateTimeRange(new Date(ledger.fromMs), new Date(ledger.toMs), DAY_AND_CLOCK)} ·{' '}
              {t('madeAgo', { age: shortAge(nowMs - ledger.endedAtMs) })}
            </small>
          </span>
        </p>
      )}
    </section>
  )
}
