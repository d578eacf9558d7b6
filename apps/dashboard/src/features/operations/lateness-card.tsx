'use client'

import type { LatenessView } from '@km0/contracts/operations-panel'
import { useTranslations } from 'next-intl'
import { isoDuration, shortAge } from '../feed/durations.ts'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import styles from './operations.module.css'
import { nextDelay, prepareDelays } from './prepare-shown.ts'

/** How late positions arrived in the last day, against the delay that is set. */
export function LatenessCard({ lateness, platformNowMs }: { readonly lateness: LatenessView | null; readonly platformNowMs: number }) {
  const t = useTranslations('operations')
  return (
    <section className={card.card} aria-labelledby="lateness">
      <header className={`${card.head} ${styles.head}`}>
        <h2 id="lateness">{t('lateness')}</h2>
        {lateness !== null && (
          <time className={card.aside} dateTime={isoDuration(platformNowMs - lateness.measuredAtMs)}>
            {t('measured', { age: shortAge(platformNowMs - lateness.measuredAtMs) })}
          </time>
        )}
      </header>
      {lateness === null ? (
        <EmptyState kind="waiting" title={t('noLatenessTitle')} hint={t('noLateness')} />
      ) : (
        <Measured lateness={lateness} />
      )}
    </section>
  )
}

function Measured({ lateness }: { readonly lateness: LatenessView }) {
  const t = useTranslations('operations')
  const format = useTimes()
  const share = (value: number) => format.number(value, { style: 'percent', maximumFractionDigits: 2 })
  const length = (ms: number | null) =>
    ms === null
      ? t('overADay')
      : ms < 180_000
        ? t('seconds', { value: format.number(ms / 1_000, { maximumFractionDigits: 1 }) })
        : t('minutes', { value: format.number(ms / 60_000, { maximumFractionDigits: 1 }) })
  const { set, proposed } = lateness
  const next = nextDelay(lateness)
  return (
    <div className={styles.lateness}>
      {set !== null && (
        <p className={styles.sentence} data-sentence="true">
          {t('covers', { delay: length(set.delayMs), share: share(set.share) })}
          {next !== null && ' '}
          {next !== null &&
            t('wouldCover', { delay: length(next.delayMs), share: share(next.share), older: length(next.delayMs - set.delayMs) })}
        </p>
      )}
      <p className={styles.quiet} data-proposed={proposed.delay?.delayMs ?? 'none'}>
        {proposed.delay === null
          ? t('proposedNone', { target: share(proposed.targetShare) })
          : t(set !== null && proposed.delay.delayMs === set.delayMs ? 'proposedSame' : 'proposed', {
              target: share(proposed.targetShare),
              delay: length(proposed.delay.delayMs),
              share: share(proposed.delay.share),
            })}
      </p>
      <dl className={styles.quantiles}>
        {(['p50', 'p95', 'p99', 'p999'] as const).map((name) => (
          <div key={name}>
            <dt>{t(`quantile.${name}`)}</dt>
            <dd>{length(lateness[`${name}Ms`])}</dd>
          </div>
        ))}
      </dl>
      <dl className={styles.shares}>
        {lateness.afterShare !== null && (
          <div>
            <dt>{t('share.after')}</dt>
            <dd>{share(lateness.afterShare)}</dd>
          </div>
        )}
        <div>
          <dt>{t('share.partly')}</dt>
          <dd>{share(lateness.partlyLateShare)}</dd>
        </div>
        <div>
          <dt>{t('share.late')}</dt>
          <dd>{share(lateness.lateShare)}</dd>
        </div>
      </dl>
      <table className={styles.table}>
        <caption className="visually-hidden">{t('delays')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('delay')}</th>
            <th scope="col">{t('covered')}</th>
            <th scope="col">{t('age')}</th>
          </tr>
        </thead>
        <tbody>
          {prepareDelays(lateness).map((row) => (
            <tr key={row.delayMs} data-set={row.isSet}>
              <th scope="row">
                {length(row.delayMs)} {row.isSet && <em>{t('isSet')}</em>}
              </th>
              <td>{share(row.share)}</td>
              <td>
                {row.olderMs === null || row.olderMs === 0
                  ? '–'
                  : row.olderMs > 0
                    ? t('older', { by: length(row.olderMs) })
                    : t('newer', { by: length(-row.olderMs) })}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.quiet}>
        {lateness.since === 'start' && `${t('sinceStart')} `}
        {t('span', {
          points: format.number(lateness.points),
          span: format.dateTimeRange(new Date(lateness.fromMs), new Date(lateness.toMs), DAY_AND_CLOCK),
        })}
      </p>
    </div>
  )
}
