'use client'

import type { LedgerRunView, LedgerView } from '@km0/contracts/ledger-panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { shortAge } from '../feed/durations.ts'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { postJson } from '../operator/post-json.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import type { Polled } from '../shell/use-polled.ts'
import { AskForm } from './ask-form.tsx'
import styles from './ledger.module.css'
import { openRuns } from './prepare-ledger.ts'

export interface RunsCardProps {
  readonly live: Polled<LedgerView>
  /** Run whose report is shown. */
  readonly chosen: number | null
  readonly onChoose: (id: number | null) => void
}

/** Asks for a ledger, shows how far those in work are, and lists those of before. */
export function RunsCard({ live, chosen, onChoose }: RunsCardProps) {
  const t = useTranslations('ledger')
  const runs = live.view?.runs ?? []
  const over = runs.filter(({ state }) => state !== 'waiting' && state !== 'running')
  return (
    <section className={`${card.card} ${styles.runs}`} aria-labelledby="runs">
      <header className={card.head}>
        <h2 id="runs">{t('runs')}</h2>
      </header>
      <AskForm
        platformNowMs={live.view?.platformNowMs ?? null}
        onAsked={() => {
          onChoose(null)
          live.refresh()
        }}
      />
      <ul className={styles.open} aria-label={t('inWork')}>
        {openRuns(runs).map((run) => (
          <OpenRun key={run.id} run={run} onChanged={live.refresh} />
        ))}
      </ul>
      {live.view !== null && over.length === 0 && <p className={styles.quiet}>{t('noRuns')}</p>}
      <ul className={styles.history} aria-label={t('history')}>
        {over.map((run) => (
          <li key={run.id}>
            <HistoryRow run={run} nowMs={live.nowMs} chosen={run.id === chosen} onChoose={onChoose} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function OpenRun({ run, onChanged }: { readonly run: LedgerRunView; readonly onChanged: () => void }) {
  const t = useTranslations('ledger')
  const format = useTimes()
  const [failure, setFailure] = useState<string | null>(null)
  const cancel = async () => {
    const answer = await postJson('/api/ledger/cancel', { id: run.id })
    setFailure(answer.ok ? null : (answer.reason ?? t('noAnswer')))
    onChanged()
  }
  const span = spanText(run, format)
  return (
    <li data-state={run.state}>
      <span>{span}</span>
      <progress max={1} value={run.state === 'waiting' ? undefined : run.progress} aria-label={t('progress', { span })} />
      <span className={styles.quiet}>{run.state === 'waiting' ? t('waiting') : format.number(run.progress, { style: 'percent' })}</span>
      <button type="button" className={form.quiet} onClick={() => void cancel()} aria-label={t('cancelOf', { span })}>
        {t('cancel')}
      </button>
      {failure !== null && (
        <p className={form.failure} role="alert">
          {failure}
        </p>
      )}
    </li>
  )
}

function HistoryRow(props: {
  readonly run: LedgerRunView
  readonly nowMs: number
  readonly chosen: boolean
  readonly onChoose: (id: number) => void
}) {
  const t = useTranslations('ledger')
  const format = useTimes()
  const { run } = props
  const what =
    run.state === 'done'
      ? run.unnamed === 0
        ? t('balancedShort')
        : t('unnamedShort', { count: run.unnamed ?? 0 })
      : run.state === 'failed'
        ? t('failed', { why: run.detail ?? '' })
        : t('cancelled')
  const who = run.reason === 'hourly' ? t('byClock') : (run.actorName ?? t('bySomebody'))
  const content = (
    <>
      <span>{spanText(run, format)}</span>
      <b data-outcome={run.state === 'done' ? (run.unnamed === 0 ? 'balanced' : 'unnamed') : run.state}>{what}</b>
      <small>{t('ranAgo', { who, age: shortAge(props.nowMs - (run.endedAtMs ?? run.askedAtMs)) })}</small>
    </>
  )
  if (run.state !== 'done') return <div className={styles.run}>{content}</div>
  return (
    <button type="button" className={styles.run} aria-pressed={props.chosen} data-run={run.id} onClick={() => props.onChoose(run.id)}>
      {content}
    </button>
  )
}

function spanText({ fromMs, toMs }: LedgerRunView, format: ReturnType<typeof useTimes>): string {
  return format.dateTimeRange(new Date(fromMs), new Date(toMs), DAY_AND_CLOCK)
}
