'use client'

import type { LedgerReport } from '@km0/contracts/ledger'
import type { LedgerRunView } from '@km0/contracts/ledger-panel'
import { useTranslations } from 'next-intl'
import { isoDuration, shortAge } from '../feed/durations.ts'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import styles from './ledger.module.css'

/** Whether it balances, of which span, and how old that is. */
export function Verdict(props: {
  readonly run: LedgerRunView
  readonly report: LedgerReport
  readonly nowMs: number
  readonly stale: boolean
}) {
  const t = useTranslations('ledger')
  const format = useTimes()
  const { report } = props
  const ageMs = props.nowMs - report.madeAtMs
  return (
    <section className={styles.verdict} data-balanced={report.balanced} aria-labelledby="verdict">
      <svg width="34" height="34" viewBox="0 0 34 34" aria-hidden="true">
        <circle cx="17" cy="17" r="14.500" />
        <path d={report.balanced ? 'M10.500 17.500l4.500 4.500 8.800-9.500' : 'M17 9.500v9.500M17 23.600v.1'} />
      </svg>
      <div>
        <h1 id="verdict">{report.balanced ? t('balanced') : t('unnamedTotal', { count: report.unnamed })}</h1>
        <p>
          <span data-span="true">
            {t('span', {
              from: format.dateTime(report.span.fromMs, DAY_AND_CLOCK),
              to: format.dateTime(report.span.toMs, DAY_AND_CLOCK),
            })}
          </span>
          <time dateTime={isoDuration(ageMs)} data-stale={props.stale}>
            {t('made', { age: shortAge(ageMs) })}
          </time>
          {props.stale && <em>{t('stale')}</em>}
          {!report.basis.exact && <em>{t('notExact')}</em>}
        </p>
      </div>
    </section>
  )
}
