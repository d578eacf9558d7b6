'use client'

import type { LedgerReport, LedgerStep } from '@km0/contracts/ledger'
import { useFormatter, useTranslations } from 'next-intl'
import card from '../shell/card.module.css'
import styles from './ledger.module.css'
import { prepareSteps } from './prepare-ledger.ts'

/** From station to station: each difference by its name, and in red what has none. */
export function StepsCard({ report }: { readonly report: LedgerReport }) {
  const t = useTranslations('ledger')
  return (
    <section className={card.card} aria-labelledby="steps">
      <header className={card.head}>
        <h2 id="steps">{t('steps')}</h2>
      </header>
      <div className={styles.steps}>
        {prepareSteps(report).map((step) => (
          <Step key={`${step.from} ${step.to}`} step={step} />
        ))}
      </div>
    </section>
  )
}

function Step({ step }: { readonly step: LedgerStep }) {
  const t = useTranslations('ledger')
  const format = useFormatter()
  const { from, to, fromCount, toCount, lines, unnamed } = step
  const signed = (count: number) => format.number(count, { signDisplay: 'exceptZero' })
  return (
    <table className={styles.step} data-step={`${from}-${to}`} data-balanced={unnamed === 0}>
      <caption>{t('step', { from: t(`station.${from}`), to: t(`station.${to}`) })}</caption>
      <tbody>
        <tr>
          <th scope="row">{t(`station.${from}`)}</th>
          <td>{format.number(fromCount)}</td>
        </tr>
        {lines.map(({ cause, change }) => (
          <tr key={cause} data-cause={cause}>
            <th scope="row">
              {t(`cause.${cause}`)}
              <code>{cause}</code>
            </th>
            <td>{signed(change)}</td>
          </tr>
        ))}
        {unnamed !== 0 && (
          <tr className={styles.unnamed}>
            <th scope="row">{t('unnamed')}</th>
            <td>{signed(unnamed)}</td>
          </tr>
        )}
        <tr className={styles.total}>
          <th scope="row">{t(`station.${to}`)}</th>
          <td>{format.number(toCount)}</td>
        </tr>
      </tbody>
    </table>
  )
}
