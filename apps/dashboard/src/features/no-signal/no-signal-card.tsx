'use client'

import type { OutageSpan } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState, type ListStatus, LoadingRows } from '../shell/list-state.tsx'
import { StateIcon } from '../shell/state-icon.tsx'
import { useHeldRows } from '../shell/use-held-rows.ts'
import type { Van } from '../van/prepare-fleet.ts'
import { AcknowledgeDialog } from './acknowledge-dialog.tsx'
import { AwayLine } from './away-line.tsx'
import { MuteDialog } from './mute-dialog.tsx'
import { MutedLine } from './muted-line.tsx'
import styles from './no-signal.module.css'
import { NoSignalRowView } from './no-signal-row.tsx'
import { NotSeen } from './not-seen.tsx'
import { NoticeButtons } from './notice-buttons.tsx'
import { OurOutages } from './our-outages.tsx'
import type { NoSignalList, NoSignalRow } from './prepare-no-signal.ts'
import { ReturnedRows } from './returned-rows.tsx'
import { useNotices } from './use-notices.ts'

export interface NoSignalCardProps {
  readonly list: NoSignalList
  readonly fleet: readonly Van[]
  readonly status: ListStatus
  /** While stale: from when on nothing is known. */
  readonly sinceMs: number | null
  /** Of ours, of the last day, newest first. */
  readonly outages: readonly OutageSpan[]
  readonly nowMs: number
  readonly selected: string | null
  readonly onSelect: (van: string) => void
}

export function NoSignalCard(props: NoSignalCardProps) {
  const t = useTranslations('noSignal')
  const format = useTimes()
  const { rows, handlers } = useHeldRows(props.list.rows, '')
  const [acknowledging, setAcknowledging] = useState<NoSignalRow | null>(null)
  const [muting, setMuting] = useState<Van | null>(null)
  const { count, unknown, notSeen, returned } = props.list
  const notices = useNotices(props.list.rows, props.status === 'ready')
  const stale = props.status === 'stale'
  const known = props.status !== 'loading' && props.status !== 'error'
  return (
    <section className={card.card} aria-labelledby="no-signal-title">
      <header className={card.head}>
        <h2 id="no-signal-title">{t('title')}</h2>
        {count > 0 && <span className={styles.count}>{count}</span>}
        <span className={card.aside} data-stale={stale && props.sinceMs !== null}>
          {stale && props.sinceMs !== null ? t('frozen', { time: format.dateTime(props.sinceMs, CLOCK) }) : count > 1 && t('order')}
        </span>
        <NoticeButtons notices={notices} />
      </header>
      {unknown > 0 && (
        <p className={styles.unknown} data-unknown={unknown}>
          <StateIcon state="unknown" /> {t('unknown', { count: unknown })}
        </p>
      )}
      <Body status={props.status} count={rows.length} unknown={unknown}>
        <div className={card.scroll}>
          <ul className={styles.rows} aria-labelledby="no-signal-title" {...handlers}>
            {rows.map(({ row, gone }) => (
              <NoSignalRowView
                key={row.key}
                row={row}
                gone={gone}
                selected={props.selected === row.key}
                onSelect={props.onSelect}
                onAcknowledge={setAcknowledging}
                onMute={setMuting}
              />
            ))}
          </ul>
          <ReturnedRows rows={returned} onSelect={props.onSelect} />
        </div>
      </Body>
      {rows.length === 0 && returned.length > 0 && known && (
        <div className={card.scroll}>
          <ReturnedRows rows={returned} onSelect={props.onSelect} />
        </div>
      )}
      <div className={styles.lines}>
        {/* Below the rows and not over them: a row half covered is too small to hit. */}
        {known && notSeen.length > 0 && <NotSeen vans={notSeen} onSelect={props.onSelect} />}
        <MutedLine list={props.list} fleet={props.fleet} nowMs={props.nowMs} onSelect={props.onSelect} />
        <AwayLine away={props.list.away} onSelect={props.onSelect} />
      </div>
      <OurOutages spans={props.outages} nowMs={props.nowMs} />
      <AcknowledgeDialog row={acknowledging} onClose={() => setAcknowledging(null)} />
      <MuteDialog van={muting} nowMs={props.nowMs} onClose={() => setMuting(null)} />
    </section>
  )
}

function Body(props: {
  readonly status: ListStatus
  readonly count: number
  readonly unknown: number
  readonly children: React.ReactNode
}) {
  const t = useTranslations()
  if (props.status === 'loading') return <LoadingRows rows={3} />
  if (props.status === 'error') return <EmptyState kind="error" title={t('error.title')} hint={t('error.hint')} />
  if (props.count > 0) return props.children
  if (props.status === 'stale') return <EmptyState kind="stale" title={t('noSignal.emptyStale')} hint={t('noSignal.emptyStaleHint')} />
  if (props.unknown > 0) return <EmptyState kind="stale" title={t('noSignal.emptyPartly')} hint={t('noSignal.emptyPartlyHint')} />
  return <EmptyState kind="ok" title={t('noSignal.emptyTitle')} hint={t('noSignal.empty')} />
}
