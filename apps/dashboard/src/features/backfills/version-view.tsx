'use client'

import type { BackfillDifferenceView, BackfillOneView } from '@km0/contracts/backfill-panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { postJson } from '../operator/post-json.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import { PolledState } from '../shell/list-state.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import styles from './backfills.module.css'
import { DifferenceCard } from './difference-card.tsx'
import { LineageCard } from './lineage-card.tsx'
import { PublishCard } from './publish-card.tsx'
import { useRangeText } from './range-text.tsx'
import { RunProgress } from './run-progress.tsx'

const BUSY_EVERY_MS = 700
const QUIET_EVERY_MS = 15_000

/** One version: how it is computed, what it changes, publish and roll back. */
export function VersionView(props: {
  readonly id: number
  readonly theme: Theme
  /** Something was stored that the lists show too. */
  readonly onChanged: () => void
}) {
  const live = usePolled<BackfillOneView>(`/api/backfills/one?id=${props.id}`, (view) =>
    view?.backfill.state === 'running' ? BUSY_EVERY_MS : QUIET_EVERY_MS,
  )
  const { view, line } = live
  const isReady = view?.backfill.state === 'ready'
  const newest = view?.publications[0]?.id ?? 0
  // What is served changes with each publication, and so does the difference.
  const difference = usePolled<BackfillDifferenceView>(
    isReady ? `/api/backfills/difference?id=${props.id}&after=${newest}` : null,
    () => QUIET_EVERY_MS,
  )
  const changed = () => {
    live.refresh()
    props.onChanged()
  }
  if (line === 'loading' || view === null) {
    return (
      <section className={card.card}>
        <PolledState polled={live} rows={6} />
      </section>
    )
  }
  return (
    <>
      {line === 'stale' && (
        <section className={card.card}>
          <PolledState polled={live} rows={6} />
        </section>
      )}
      <RunCard view={view} onChanged={changed} />
      {isReady && <PublishCard view={view} onChanged={changed} />}
      <LineageCard view={view} />
      {isReady && <DifferenceCard difference={difference} request={view.backfill.request} version={props.id} theme={props.theme} />}
    </>
  )
}

function RunCard({ view, onChanged }: { readonly view: BackfillOneView; readonly onChanged: () => void }) {
  const t = useTranslations('backfills')
  const offline = useTranslations('acknowledge')
  const format = useTimes()
  const rangeText = useRangeText()
  const [failure, setFailure] = useState<string | null>(null)
  const { backfill, progress, log } = view
  const cancel = async () => {
    const answer = await postJson('/api/backfills/cancel', { id: backfill.id })
    setFailure(answer.ok ? null : (answer.reason ?? offline('offline')))
    onChanged()
  }
  return (
    <section className={card.card} aria-labelledby="run-title" data-state={backfill.state}>
      <header className={card.head}>
        <h2 id="run-title">v{backfill.id}</h2>
        <span className={styles.badge} data-state={backfill.state} role="status">
          {t(`state.${backfill.state}`)}
        </span>
        <span className={card.aside}>{rangeText(backfill.request)}</span>
      </header>
      <p className={styles.by}>
        {t('askedBy', { name: backfill.actor.name, time: format.dateTime(backfill.requestedAtMs, DAY_AND_CLOCK) })}
        {backfill.reason !== '' && ` — ${backfill.reason}`}
      </p>
      <RunProgress progress={progress} rows={backfill.rows} />
      {backfill.error !== null && <p className={form.failure}>{backfill.error}</p>}
      {failure !== null && (
        <p className={form.failure} role="alert">
          {failure}
        </p>
      )}
      {backfill.state === 'running' && (
        <div className={styles.actions}>
          <button type="button" className={form.quiet} onClick={() => void cancel()}>
            {t('cancel')}
          </button>
        </div>
      )}
      {log.length > 0 && (
        <details className={styles.stretches}>
          <summary>{t('log', { count: log.length })}</summary>
          <ol className={styles.log}>
            {log.map(({ atMs, line }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are only added at the end
              <li key={index}>
                <time>{format.dateTime(atMs, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })}</time> {line}
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  )
}
