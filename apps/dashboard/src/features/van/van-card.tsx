'use client'

import { useTranslations } from 'next-intl'
import { type ReactNode, useEffect } from 'react'
import type { DistanceRow } from '../distances/prepare-distances.ts'
import { Sparkline } from '../distances/sparkline.tsx'
import { clockDuration, shortAge } from '../feed/durations.ts'
import { CLOCK, CLOCK_SECONDS } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { StateIcon } from '../shell/state-icon.tsx'
import { compassPoint } from './compass.ts'
import { lastKnown } from './last-known.ts'
import type { Van } from './prepare-fleet.ts'
import styles from './van-card.module.css'

const DAY_MS = 86_400_000

export interface VanCardProps {
  /** As the link or the click named it. */
  readonly name: string
  /** null when there is none of that name. */
  readonly van: Van | null
  readonly distance: DistanceRow | null
  readonly onClose: () => void
  /** Brings the van into view. */
  readonly onShow: () => void
  /** The map keeps it in its middle. */
  readonly followed: boolean
  readonly onFollow: (followed: boolean) => void
  /** What else can be done with the van; other features bring it. */
  readonly actions?: ReactNode
}

/** What is known of the selected van. */
export function VanCard(props: VanCardProps) {
  const t = useTranslations()
  const { van, onClose } = props
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key === 'Escape' && target.closest('dialog, input, textarea') === null) onClose()
    }
    document.addEventListener('keydown', close)
    return () => document.removeEventListener('keydown', close)
  }, [onClose])
  return (
    <section className={styles.card} aria-label={van?.name ?? props.name} data-state={van?.state ?? 'unknown'}>
      <header className={styles.head}>
        {van !== null && <StateIcon state={van.state} doubtful={van.doubtful} size={20} />}
        {van === null ? (
          <h2>{t('van.unknown', { van: props.name })}</h2>
        ) : (
          <h2>
            <button type="button" onClick={props.onShow}>
              {van.name}
            </button>
          </h2>
        )}
        {van !== null && van.point !== null && (
          <button type="button" className={styles.follow} aria-pressed={props.followed} onClick={() => props.onFollow(!props.followed)}>
            {t(props.followed ? 'van.following' : 'van.follow')}
          </button>
        )}
        <button type="button" className={styles.close} aria-label={t('van.close', { van: van?.name ?? props.name })} onClick={onClose}>
          <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
            <path d="M2.500 2.500l9 9M11.500 2.500l-9 9" />
          </svg>
        </button>
      </header>
      {van === null ? <p className={styles.hint}>{t('van.unknownHint')}</p> : <Facts van={van} distance={props.distance} />}
      {van !== null && (
        <p className={styles.hint}>
          <a href={`/furgoneta?${new URLSearchParams({ van: van.van })}`}>{t('vanPage.open')}</a>
        </p>
      )}
      {van !== null && props.actions !== undefined && <div className={styles.actions}>{props.actions}</div>}
    </section>
  )
}

function Facts({ van, distance }: { readonly van: Van; readonly distance: DistanceRow | null }) {
  const t = useTranslations()
  const format = useTimes()
  const { point } = van
  const heard = van.state === 'moving' || van.state === 'stopped'
  const speed = point?.speedMmPerS == null ? null : Math.round(point.speedMmPerS * 0.0036)
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  const outageWords = ({ fromMs, toMs }: NonNullable<Van['outage']>) => {
    if (toMs !== null) return t('noSignal.notCounted', { from: clock(fromMs), to: clock(toMs) })
    return fromMs > 0 ? t('noSignal.hidden', { time: clock(fromMs) }) : t('feed.none')
  }
  const last = lastKnown(van)
  const dutyWords =
    van.shift === null || van.shift.endMs - van.shift.startMs >= DAY_MS
      ? t(`duty.${van.duty}`)
      : t('van.dutyUntil', { time: clock(van.shift.endMs) })
  const missing = distance?.history.filter((value) => value === null).length ?? 0
  return (
    <>
      <p className={styles.state}>
        <b>{t(`state.one.${van.state}`)}</b>
        {van.doubtful && <span> · {t('state.doubtful')}</span>}
        {heard && van.state === 'moving' && speed !== null && <span> · {t('van.speedValue', { speed })}</span>}
        {heard && van.state === 'moving' && point?.headingDegrees != null && <span> · {compassPoint(point.headingDegrees)}</span>}
        {!heard && van.state !== 'unknown' && van.silenceMs !== null && (
          <span className={styles.silence}>{clockDuration(van.silenceMs)}</span>
        )}
      </p>
      <dl className={styles.facts}>
        <Fact label={t('van.place')} value={van.place} />
        <Fact
          label={t('van.lastSeen')}
          value={
            van.lastMs === null
              ? null
              : `${format.dateTime(van.lastMs, CLOCK_SECONDS)}${heard && van.silenceMs !== null ? ` · ${t('van.ago', { age: shortAge(van.silenceMs) })}` : ''}`
          }
        />
        {!heard && (
          <Fact label={t('van.lastSpeed')} value={last.speedKmh === null ? null : t('van.speedValue', { speed: last.speedKmh })} />
        )}
        <Fact
          label={t('van.battery')}
          value={last.batteryPercent === null ? null : t('van.batteryValue', { percent: last.batteryPercent })}
        />
        <Fact label={t('van.plate')} value={van.plate} />
        <Fact label={t('van.depot')} value={van.registered ? van.depotName : t('noSignal.notRegistered')} />
        {van.registered && <Fact label={t('van.duty')} value={dutyWords} />}
      </dl>
      {van.outage !== null && !heard && <p className={styles.hint}>{outageWords(van.outage)}</p>}
      {point === null && <p className={styles.hint}>{t('van.noPosition')}</p>}
      {distance !== null && (
        <div className={styles.distance}>
          <span>
            {t('van.window')}{' '}
            <b>
              {distance.distanceMm === null
                ? '–'
                : t('distances.km', { km: format.number(distance.distanceMm / 1e6, { maximumFractionDigits: 2 }) })}
            </b>
          </span>
          <Sparkline
            values={distance.history}
            maximum={Math.max(1, ...distance.history.map((value) => value ?? 0))}
            label={t('distances.sparkline', { van: van.name, missing })}
          />
        </div>
      )}
    </>
  )
}

function Fact({ label, value }: { readonly label: string; readonly value: string | null }) {
  if (value === null) return null
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  )
}
