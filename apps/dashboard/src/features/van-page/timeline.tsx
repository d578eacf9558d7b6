import type { VanDayView } from '@km0/contracts/van-day-panel'
import { useTranslations } from 'next-intl'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { hoursOfDay } from '../playback/instants.ts'
import { TimeSlider } from '../playback/player.tsx'
import type { Timeline as Prepared, TimelineSpan } from './prepare-timeline.ts'
import styles from './van-page.module.css'

const STEP_MS = 10_000

/** The day as a band: moving, stopped, silent, and where it was our line that was cut. A slider lies under it. */
export function Timeline(props: {
  readonly day: VanDayView['day']
  readonly timeline: Prepared
  readonly atMs: number
  readonly onSeek: (ms: number) => void
}) {
  const t = useTranslations('vanPage')
  const causeOf = useTranslations('outages.cause')
  const format = useTimes()
  const { day, timeline, atMs, onSeek } = props
  const spanMs = day.endMs - day.startMs
  const left = (ms: number) => `${((ms - day.startMs) / spanMs) * 100}%`
  const width = (ms: number) => `${(ms / spanMs) * 100}%`
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  const title = ({ kind, fromMs, toMs }: TimelineSpan) => `${t(`span.${kind}`)} ${clock(fromMs)}–${clock(toMs)}`
  const minutes = (ms: number) => Math.round(ms / 60_000)
  const { moving, stopped, silent } = timeline.totalMs
  return (
    <div className={styles.timeline}>
      <div
        className={styles.band}
        role="img"
        aria-label={t('bandLabel', { moving: minutes(moving), stopped: minutes(stopped), silent: minutes(silent) })}
      >
        {timeline.spans.map((span) => (
          <i
            key={span.fromMs}
            data-kind={span.kind}
            style={{ left: left(span.fromMs), width: width(span.toMs - span.fromMs) }}
            title={title(span)}
          />
        ))}
        {timeline.outages.map(({ fromMs, toMs, cause }) => (
          <i
            key={`outage-${fromMs}`}
            data-kind="outage"
            style={{ left: left(fromMs), width: width(toMs - fromMs) }}
            title={`${t('span.outage')} ${clock(fromMs)}–${clock(toMs)} (${causeOf(cause)})`}
          />
        ))}
        <b style={{ left: left(atMs) }} />
      </div>
      <TimeSlider fromMs={day.startMs} toMs={day.endMs} atMs={atMs} stepMs={STEP_MS} label={t('slider')} onSeek={onSeek} />
      <div className={styles.ticks} aria-hidden="true">
        {hoursOfDay(day)
          .filter(({ hour, offset }) => hour % 3 === 0 || offset !== null)
          .map(({ ms, hour, offset }) => (
            <span key={ms} style={{ left: left(ms) }} data-minor={hour % 6 !== 0}>
              {hour}
              {offset !== null && <small>{offset.slice(0, 3)}</small>}
            </span>
          ))}
      </div>
      <ul className={styles.legend}>
        {(['moving', 'stopped', 'silent'] as const).map((kind) => (
          <li key={kind}>
            <i data-kind={kind} /> {t(`span.${kind}`)} <b>{t('minutes', { minutes: minutes(timeline.totalMs[kind]) })}</b>
          </li>
        ))}
        {timeline.outages.length > 0 && (
          <li>
            <i data-kind="outage" /> {t('span.outage')}
          </li>
        )}
      </ul>
    </div>
  )
}
