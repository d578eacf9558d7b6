'use client'

import type { LedgerReport } from '@km0/contracts/ledger'
import { useFormatter, useTranslations } from 'next-intl'
import card from '../shell/card.module.css'
import styles from './ledger.module.css'
import { prepareStations } from './prepare-ledger.ts'

/** What stood at each station. */
export function StationsCard({ report }: { readonly report: LedgerReport }) {
  const t = useTranslations('ledger')
  const format = useFormatter()
  // Reasons of the bridge are shown as they stand on the wire.
  const nameOf = (part: string) => (t.has(`part.${part}`) ? t(`part.${part}`) : part)
  return (
    <section className={card.card} aria-labelledby="stations">
      <header className={card.head}>
        <h2 id="stations">{t('stations')}</h2>
      </header>
      <ol className={styles.stations}>
        {prepareStations(report).map(({ name, count, certainty, parts, share }) => (
          <li key={name} data-station={name}>
            <div className={styles.stationName}>
              <b>{t(`station.${name}`)}</b>
              <small>{t(`stationHint.${name}`)}</small>
            </div>
            <span className={styles.bar} aria-hidden="true">
              {share !== null && <i style={{ inlineSize: `${share * 100}%` }} />}
            </span>
            <span className={styles.count} data-certainty={certainty}>
              {count === null
                ? t('unknown')
                : certainty === 'at-least'
                  ? t('atLeast', { count: format.number(count) })
                  : format.number(count)}
            </span>
            {parts.length > 0 && (
              <ul className={styles.parts}>
                {parts.map((part) => (
                  <li key={part.name} data-within={part.within !== undefined}>
                    {part.within === undefined ? nameOf(part.name) : t('within', { part: nameOf(part.name) })}{' '}
                    <b>{format.number(part.count)}</b>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
