import type { Period } from '@km0/contracts/madrid'
import type { OutageSpan } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { type FocusEvent, type FormEvent, useState } from 'react'
import { useTimes } from '../feed/use-times.ts'
import { hoursOfDay, instantOf, madridInput } from '../playback/instants.ts'
import { Moment, Player, TimeSlider } from '../playback/player.tsx'
import type { Playback } from '../playback/use-playback.ts'
import card from '../shell/card.module.css'
import styles from './replay.module.css'

const STEP_MS = 60_000
const SLIDER_STEP_MS = 30_000
const DAY_MS = 86_400_000

/** The moment: play, step, slide over its day, or jump to a date and time. */
export function ReplayControls(props: {
  readonly day: Period
  readonly outages: readonly OutageSpan[]
  readonly atMs: number
  readonly nowMs: number
  readonly line: 'loading' | 'ready' | 'failed'
  readonly playback: Playback
  readonly onSeek: (ms: number) => void
}) {
  const t = useTranslations('replay')
  const format = useTimes()
  const { day, outages, atMs, nowMs, playback, onSeek } = props
  const left = (ms: number) => `${((Math.min(Math.max(ms, day.startMs), day.endMs) - day.startMs) / (day.endMs - day.startMs)) * 100}%`
  return (
    <section
      className={`${card.card} ${styles.controls}`}
      aria-label={t('controls')}
      data-line={props.line}
      data-at={Math.floor(atMs / 1_000) * 1_000}
    >
      <header className={styles.top}>
        <h1 id="replay-title">{t('title')}</h1>
        <p className={styles.moment}>
          {format.dateTime(atMs, { weekday: 'long', day: 'numeric', month: 'long' })},{' '}
          <b>
            <Moment ms={atMs} />
          </b>
        </p>
        <Jump atMs={atMs} nowMs={nowMs} onSeek={onSeek} />
      </header>
      <Player playback={playback} atMs={atMs} stepMs={STEP_MS} onSeek={onSeek}>
        <button type="button" onClick={() => onSeek(atMs - DAY_MS)}>
          {t('dayBefore')}
        </button>
        <button type="button" disabled={atMs + DAY_MS > nowMs} onClick={() => onSeek(atMs + DAY_MS)}>
          {t('dayAfter')}
        </button>
      </Player>
      <div className={styles.slide}>
        <div className={styles.outages} aria-hidden="true">
          {outages.map(({ fromMs, toMs }) => (
            <i key={`${fromMs}-${toMs}`} style={{ left: left(fromMs), right: `calc(100% - ${left(toMs)})` }} />
          ))}
          {nowMs < day.endMs && <i data-future="true" style={{ left: left(nowMs), right: '0' }} />}
        </div>
        <TimeSlider fromMs={day.startMs} toMs={day.endMs - 1_000} atMs={atMs} stepMs={SLIDER_STEP_MS} label={t('slider')} onSeek={onSeek} />
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
      </div>
    </section>
  )
}

/** A date and a time of Madrid, typed. */
function Jump({ atMs, nowMs, onSeek }: { readonly atMs: number; readonly nowMs: number; readonly onSeek: (ms: number) => void }) {
  const t = useTranslations('replay')
  // null: nothing is being typed, it shows the moment.
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? madridInput(atMs)
  const ms = instantOf(text)
  const jump = (event: FormEvent) => {
    event.preventDefault()
    if (ms === null) return
    setTyped(null)
    onSeek(ms)
  }
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) setTyped(null)
  }
  return (
    <form className={styles.jump} onSubmit={jump} onBlur={leave}>
      <label>
        <span className="visually-hidden">{t('jumpTo')}</span>
        <input
          type="datetime-local"
          value={text}
          max={madridInput(nowMs)}
          onFocus={() => setTyped(text)}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      {/* Where a press gives a button no focus, it would otherwise take back what was typed before it is a click. */}
      <button type="submit" disabled={ms === null} onMouseDown={(event) => event.preventDefault()}>
        {t('jump')}
      </button>
    </form>
  )
}
