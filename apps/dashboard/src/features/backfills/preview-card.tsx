'use client'

import type { BackfillPreview, BackfillRequest, HoursOfOwner } from '@km0/contracts/backfill'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import { EmptyState, LoadingRows } from '../shell/list-state.tsx'
import styles from './backfills.module.css'
import { CommandDialog } from './command-dialog.tsx'
import { prepareSentences } from './prepare-preview.ts'
import { useRangeText } from './range-text.tsx'
import { usePreview } from './use-preview.ts'

/** What a backfill would do, before it is run. */
export function PreviewCard(props: { readonly request: BackfillRequest; readonly onRun: (id: number) => void }) {
  const t = useTranslations()
  const rangeText = useRangeText()
  const [round, setRound] = useState(0)
  const { preview, state, reason } = usePreview(props.request, round)
  return (
    <section className={card.card} aria-labelledby="preview-title" data-preview={state}>
      <header className={card.head}>
        <h2 id="preview-title">{t('backfills.preview')}</h2>
        <span className={card.aside}>{rangeText(props.request)}</span>
      </header>
      {state === 'asking' && <LoadingRows rows={5} />}
      {state === 'failed' && <EmptyState kind="error" title={t('backfills.previewFailed')} hint={reason ?? t('error.hint')} />}
      {preview !== null && <Preview preview={preview} onRun={props.onRun} />}
      {state !== 'asking' && (
        <p className={styles.again}>
          <button type="button" className={form.quiet} onClick={() => setRound(round + 1)}>
            {t('backfills.again')}
          </button>
        </p>
      )}
    </section>
  )
}

function Preview({ preview, onRun }: { readonly preview: BackfillPreview; readonly onRun: (id: number) => void }) {
  const t = useTranslations('backfills')
  const format = useTimes()
  const [asking, setAsking] = useState(false)
  const sentences = prepareSentences(preview)
  return (
    <>
      <dl className={styles.facts}>
        {(
          [
            ['hours', preview.hours],
            ['owners', preview.owners],
            ['rows', preview.rows],
            ['points', preview.late.tard + preview.late.parcial],
          ] as const
        ).map(([name, value]) => (
          <div key={name}>
            <dt>{t(`fact.${name}`)}</dt>
            <dd>{format.number(value)}</dd>
          </div>
        ))}
        <div>
          <dt>{t('fact.time')}</dt>
          <dd>{t('seconds', { seconds: Math.max(1, Math.round(preview.expectedMs / 1000)) })}</dd>
        </div>
      </dl>
      <ul className={styles.sentences}>
        {sentences.map(({ key, values, kind }) => (
          <li key={`${key}|${values.reason ?? ''}`} data-kind={kind} data-sentence={key}>
            {t(`says.${key}`, values)}
          </li>
        ))}
      </ul>
      <Stretches title={t('joined')} hours={preview.joined} />
      <Stretches title={t('held')} hours={preview.held} />
      {preview.refusal === null && (
        <div className={styles.actions}>
          {preview.version !== null && (
            <button type="button" className={form.quiet} onClick={() => onRun(preview.version ?? 0)}>
              {t('showKnown', { version: preview.version })}
            </button>
          )}
          <button type="button" className={form.primary} onClick={() => setAsking(true)}>
            {t('run')}
          </button>
        </div>
      )}
      <CommandDialog
        open={asking}
        title={t('runTitle')}
        lead={t('runLead')}
        action={t('run')}
        path="/api/backfills"
        body={(reason) => ({ request: preview.request, reason })}
        onDone={(answer: { readonly version: number }) => onRun(answer.version)}
        onClose={() => setAsking(false)}
      />
    </>
  )
}

/** Hours that are treated otherwise than asked, and why. */
function Stretches({ title, hours }: { readonly title: string; readonly hours: readonly HoursOfOwner[] }) {
  const format = useTimes()
  if (hours.length === 0) return null
  return (
    <details className={styles.stretches}>
      <summary>
        {title} ({hours.length})
      </summary>
      <ul>
        {hours.map(({ owner, fromMs, toMs, why }) => (
          <li key={`${owner}|${fromMs}`}>
            <b>{owner}</b> {format.dateTime(fromMs, DAY_AND_CLOCK)} – {format.dateTime(toMs, DAY_AND_CLOCK)}: {why}
          </li>
        ))}
      </ul>
    </details>
  )
}
