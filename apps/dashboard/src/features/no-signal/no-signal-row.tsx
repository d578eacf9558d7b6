import { useTranslations } from 'next-intl'
import { memo } from 'react'
import { clockDuration, isoDuration } from '../feed/durations.ts'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { StateIcon } from '../shell/state-icon.tsx'
import { useMay } from '../sign-in/use-session.ts'
import { lastKnown } from '../van/last-known.ts'
import type { Van } from '../van/prepare-fleet.ts'
import { CorrectionWords } from './correction-words.tsx'
import styles from './no-signal.module.css'
import type { NoSignalRow } from './prepare-no-signal.ts'

export interface NoSignalRowProps {
  readonly row: NoSignalRow
  /** The van is heard again; the row stays while a pointer is over the list. */
  readonly gone: boolean
  readonly selected: boolean
  readonly onSelect: (van: string) => void
  readonly onAcknowledge: (row: NoSignalRow) => void
  readonly onMute: (van: Van) => void
}

export const NoSignalRowView = memo(function NoSignalRowView(props: NoSignalRowProps) {
  const t = useTranslations('noSignal')
  const format = useTimes()
  const { row, gone } = props
  const { van, acknowledgement } = row
  const may = useMay('dispatcher')
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  const time = clock(row.lastMs)
  const duration = clockDuration(row.durationMs)
  const provisional = row.band === 'provisional'
  const { speedKmh, batteryPercent } = lastKnown(van)
  const facts = [
    ...(speedKmh === null ? [] : [t('lastSpeed', { speed: speedKmh })]),
    ...(batteryPercent === null ? [] : [t('lastBattery', { percent: batteryPercent })]),
    ...(row.near === 0 ? [] : [t('near', { count: row.near })]),
  ]
  return (
    <li
      className={styles.row}
      data-band={gone ? 'returned' : row.band}
      data-step={row.step}
      data-hidden={row.hidden}
      data-selected={props.selected}
      data-van={row.key}
    >
      <button
        type="button"
        className={styles.main}
        aria-current={props.selected ? 'true' : undefined}
        title={provisional ? t('provisionalHint') : undefined}
        onClick={() => props.onSelect(row.key)}
      >
        <span className={styles.duration}>
          {gone ? (
            <StateIcon state="moving" size={20} />
          ) : provisional ? (
            <time dateTime={isoDuration(row.durationMs)} className={styles.provisional}>
              {t.rich('provisional', { duration, small: (text) => <small>{text}</small> })}
            </time>
          ) : (
            <time dateTime={isoDuration(row.durationMs)}>{duration}</time>
          )}
        </span>
        <span className={styles.who}>
          <span className={styles.name}>{van.name}</span>
          <span className={styles.where}>
            {gone ? (
              t('returned')
            ) : (
              <>
                <span className={styles.place}>{van.place ?? t('nowhere')}</span>
                <time dateTime={new Date(row.lastMs).toISOString()}>{time}</time>
                {!van.registered && <em>{t('notRegistered')}</em>}
              </>
            )}
          </span>
          {!gone && row.outage !== null && (
            <span className={styles.fact} data-outage={row.hidden ? 'lasts' : 'over'}>
              {row.hidden || row.outage.toMs === null
                ? t('hidden', { time: clock(row.outage.fromMs) })
                : t('notCounted', { from: clock(row.outage.fromMs), to: clock(row.outage.toMs) })}
            </span>
          )}
          {!gone && row.correction !== null && <CorrectionWords correction={row.correction} />}
          {!gone && facts.length > 0 && <span className={styles.fact}>{facts.join(' · ')}</span>}
          {acknowledgement !== null && (
            <span className={styles.note}>
              <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
                <path d="M2.5 7.5l3 3 6-7" />
              </svg>
              <span>
                <b>{t('acknowledgedBy', { name: acknowledgement.actor.name, time: clock(acknowledgement.atMs) })}</b>
                {acknowledgement.note !== '' && ` — ${acknowledgement.note}`}
              </span>
            </span>
          )}
        </span>
      </button>
      {!gone && may && (
        <button
          type="button"
          className={styles.mute}
          aria-label={t('muteVan', { van: van.name })}
          title={t('muteHint')}
          onClick={() => props.onMute(van)}
        >
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M8 2a4 4 0 0 0-4 4v2.600L2.800 11h10.400L12 8.600V6a4 4 0 0 0-4-4zM6.500 13a1.600 1.600 0 0 0 3 0M2 2l12 12" />
          </svg>
        </button>
      )}
      {!gone && may && (
        <button
          type="button"
          className={styles.acknowledge}
          data-done={acknowledgement !== null}
          aria-label={acknowledgement === null ? t('acknowledgeVan', { van: van.name }) : t('acknowledgeAgain', { van: van.name })}
          onClick={() => props.onAcknowledge(row)}
        >
          {acknowledgement === null ? (
            t('acknowledge')
          ) : (
            <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
              <path d="M2.5 13.5l.7-3L10.5 3.200a1.400 1.400 0 0 1 2 0l.3.3a1.400 1.400 0 0 1 0 2L5.500 12.800z" />
            </svg>
          )}
        </button>
      )}
    </li>
  )
})
