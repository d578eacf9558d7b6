import type { NightRun } from '@km0/contracts/nightly'
import { useTranslations } from 'next-intl'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import styles from './backfills.module.css'

/** The last night runs: what was published by itself, and what waits for a person. */
export function NightsCard({ nights, onChoose }: { readonly nights: readonly NightRun[]; readonly onChoose: (version: number) => void }) {
  const t = useTranslations('backfills')
  const format = useTimes()
  if (nights.length === 0) return null
  return (
    <section className={card.card} aria-labelledby="nights-title">
      <header className={card.head}>
        <h2 id="nights-title">{t('nights')}</h2>
      </header>
      <ul className={styles.rows}>
        {nights.map((night) => (
          <li key={night.dayMs} className={styles.night} data-night={night.state}>
            <span>
              <b>{format.dateTime(night.dayMs, { weekday: 'short', day: 'numeric', month: 'short' })}</b> {t(`night.${night.state}`)}
              {night.tasks.map(({ version }) =>
                version === null ? null : (
                  <button key={version} type="button" onClick={() => onChoose(version)}>
                    v{version}
                  </button>
                ),
              )}
            </span>
            {night.detail !== '' && <small>{night.detail}</small>}
          </li>
        ))}
      </ul>
    </section>
  )
}
