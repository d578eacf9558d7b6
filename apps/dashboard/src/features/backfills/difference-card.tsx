'use client'

import type { BackfillRequest } from '@km0/contracts/backfill'
import type { BackfillDifferenceView } from '@km0/contracts/backfill-panel'
import { useFormatter, useTranslations } from 'next-intl'
import { useMemo, useState } from 'react'
import card from '../shell/card.module.css'
import { EmptyState, PolledState } from '../shell/list-state.tsx'
import type { Theme } from '../shell/theme.ts'
import type { Polled } from '../shell/use-polled.ts'
import styles from './backfills.module.css'
import { OwnerHours } from './owner-hours.tsx'
import { type OwnerDifference, prepareDifference } from './prepare-difference.ts'

const KM = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
const SHOWN = 100

/** What readers would see otherwise: by van and hour, in rows and kilometres, and on the map. */
export function DifferenceCard(props: {
  readonly difference: Polled<BackfillDifferenceView>
  readonly request: BackfillRequest
  readonly version: number
  readonly theme: Theme
}) {
  const t = useTranslations()
  const { view, line } = props.difference
  const rows = useMemo(() => (view === null ? [] : prepareDifference(view)), [view])
  const [open, setOpen] = useState<string | null>(null)
  return (
    <section
      className={card.card}
      aria-labelledby="difference-title"
      data-difference={view === null ? line : view.added + view.removed + view.changed}
    >
      <header className={card.head}>
        <h2 id="difference-title">{t('backfills.difference')}</h2>
        {view !== null && <Totals view={view} />}
      </header>
      <PolledState polled={props.difference} rows={4} />
      {view !== null && rows.length === 0 && <EmptyState kind="ok" title={t('backfills.sameTitle')} hint={t('backfills.same')} />}
      {rows.length > 0 && (
        <div className={styles.differences}>
          {rows.slice(0, SHOWN).map((row) => (
            <OwnerRow
              key={row.owner}
              row={row}
              isOpen={open === row.owner}
              onToggle={() => setOpen(open === row.owner ? null : row.owner)}
              {...props}
            />
          ))}
          {rows.length > SHOWN && <p className={styles.more}>{t('backfills.more', { count: rows.length - SHOWN })}</p>}
        </div>
      )}
    </section>
  )
}

function Totals({ view }: { readonly view: BackfillDifferenceView }) {
  const t = useTranslations('backfills')
  const format = useFormatter()
  return (
    <span className={card.aside}>
      {t('rowsDiffer', { added: view.added, removed: view.removed, changed: view.changed })} · {format.number(view.beforeMm / 1e6, KM)} →{' '}
      {format.number(view.afterMm / 1e6, KM)} km
    </span>
  )
}

function OwnerRow(props: {
  readonly row: OwnerDifference
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly request: BackfillRequest
  readonly version: number
  readonly theme: Theme
}) {
  const t = useTranslations('backfills')
  const format = useFormatter()
  const { row, isOpen } = props
  const km = (mm: number | null) => (mm === null ? '–' : format.number(mm / 1e6, KM))
  const isDistance = row.beforeMm !== null || row.afterMm !== null
  return (
    <div data-owner={row.owner}>
      <button type="button" className={styles.owner} aria-expanded={isOpen} onClick={props.onToggle}>
        <b>{row.owner}</b>
        <span>{t('rowsDiffer', { added: row.added, removed: row.removed, changed: row.changed })}</span>
        {isDistance && (
          <span className={styles.km} data-more={(row.afterMm ?? 0) > (row.beforeMm ?? 0)}>
            {km(row.beforeMm)} → {km(row.afterMm)} km
          </span>
        )}
      </button>
      {isOpen && <OwnerHours row={row} request={props.request} version={props.version} theme={props.theme} />}
    </div>
  )
}
