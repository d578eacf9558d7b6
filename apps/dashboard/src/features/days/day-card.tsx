'use client'

import type { DayView } from '@km0/contracts/days-panel'
import { madridDate } from '@km0/contracts/madrid'
import { useTranslations } from 'next-intl'
import { useMemo } from 'react'
import { usePreview } from '../backfills/use-preview.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { PolledState } from '../shell/list-state.tsx'
import { usePolled } from '../shell/use-polled.ts'
import styles from './days.module.css'
import { HoursChart } from './hours-chart.tsx'
import { type DayExplained, explainDay, rangeOf } from './prepare-day.ts'

const EVERY_MS = 30_000
const KM = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const

/** Why a cell holds what it holds. */
export function DayCard(props: { readonly van: string; readonly day: string; readonly onClose: () => void }) {
  const t = useTranslations()
  const format = useTimes()
  const path = `/api/days/van?${new URLSearchParams({ van: props.van, day: props.day })}`
  const polled = usePolled<DayView>(path, () => EVERY_MS)
  const { view } = polled
  const explained = useMemo(() => (view === null ? null : explainDay(view)), [view])
  return (
    <aside className={`${card.card} ${styles.card}`} aria-labelledby="day-title" data-day={`${props.van}|${props.day}`}>
      <header className={card.head}>
        <h2 id="day-title">
          {props.van}
          <small>{format.dateTime(new Date(`${props.day}T12:00:00Z`), { weekday: 'long', day: 'numeric', month: 'long' })}</small>
        </h2>
        <button type="button" className={styles.close} aria-label={t('days.close')} onClick={props.onClose}>
          ×
        </button>
      </header>
      <PolledState polled={polled} rows={5} />
      {view !== null && explained !== null && <Explained view={view} explained={explained} />}
    </aside>
  )
}

function Explained({ view, explained }: { readonly view: DayView; readonly explained: DayExplained }) {
  const t = useTranslations('days')
  const format = useTimes()
  const request = { pipeline: 'positions' as const, ...rangeOf(view), owners: [view.van.van] }
  const km = (mm: number | null) => (mm === null ? '–' : `${format.number(mm / 1e6, KM)} km`)
  return (
    <div className={card.scroll}>
      <p className={styles.measured}>
        <b>{km(explained.distanceMm)}</b>
        <span>{t('measured', { positions: explained.positions })}</span>
      </p>
      <HoursChart hours={view.hours} day={view.day} />
      <dl className={styles.facts}>
        <Fact
          name={t('gaps')}
          value={explained.gapsMm === null ? t('notKnownLive') : t('gapsValue', { count: explained.gaps ?? 0, km: km(explained.gapsMm) })}
        />
        <Fact
          name={t('jumps')}
          value={
            explained.jumpsMm === null
              ? t('jumpsLive', { count: explained.jumps })
              : t('jumpsValue', { count: explained.jumps, km: km(explained.jumpsMm) })
          }
        />
        <Fact
          name={t('parked')}
          value={t('parkedValue', { minutes: Math.round(view.parked.durationMs / 60_000), km: km(view.parked.distanceMm) })}
        />
        <Fact
          name={t('lateName')}
          value={t('lateValue', { tard: view.late.tard, parcial: view.late.parcial })}
          alarm={view.late.tard + view.late.parcial > 0}
        />
        <RefusedFact request={request} />
        <Fact
          name={t('version')}
          value={
            explained.versions.length === 0
              ? t('live')
              : t('versionsValue', { versions: explained.versions.join(', '), live: explained.isLive ? 'yes' : 'no' })
          }
        />
        <Fact
          name={t('certified')}
          value={
            explained.certificate === null
              ? t('notCertified')
              : t(`certificate.${explained.certificate.result}`, { hours: explained.certificate.hours })
          }
          alarm={explained.certificate?.result === 'different'}
        />
      </dl>
      <p className={styles.onward}>
        <a href={`/recalculs?${new URLSearchParams({ de: String(request.fromMs), a: String(request.toMs), furgo: view.van.van })}`}>
          {t('recompute')}
        </a>
        <a href={`/furgoneta?${new URLSearchParams({ van: view.van.van, dia: madridDate(view.day.startMs) })}`}>{t('whole')}</a>
      </p>
    </div>
  )
}

function Fact({ name, value, alarm = false }: { readonly name: string; readonly value: string; readonly alarm?: boolean }) {
  return (
    <div data-alarm={alarm}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** Dead letters are in the lake alone: a worker looks there. */
function RefusedFact({ request }: { readonly request: Parameters<typeof usePreview>[0] }) {
  const t = useTranslations('days')
  const { preview, state } = usePreview(request)
  if (preview === null) return <Fact name={t('refused')} value={t(state === 'failed' ? 'refusedUnknown' : 'refusedLoading')} />
  const total = preview.refused.reduce((sum, { count }) => sum + count, 0)
  const value = total === 0 ? t('refusedNone') : preview.refused.map(({ reason, count }) => `${count} ${reason}`).join(', ')
  return <Fact name={t('refused')} value={value} alarm={total > 0} />
}
