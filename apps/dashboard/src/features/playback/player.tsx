import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { CLOCK_SECONDS } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import styles from './playback.module.css'
import { type Playback, SPEEDS, type Speed } from './use-playback.ts'

/** Play, pause, step, and how fast; what else belongs beside them comes as children. */
export function Player(props: {
  readonly playback: Playback
  readonly atMs: number
  readonly stepMs: number
  readonly onSeek: (ms: number) => void
  readonly children?: ReactNode
}) {
  const t = useTranslations('playback')
  const { playback, atMs, stepMs, onSeek } = props
  const minutes = stepMs / 60_000
  return (
    <div className={styles.player}>
      <button type="button" aria-label={t('back', { minutes })} onClick={() => onSeek(atMs - stepMs)}>
        <Sign path="M11 3 5 8l6 5z" />
      </button>
      <button type="button" className={styles.play} aria-label={t(playback.isPlaying ? 'pause' : 'play')} onClick={playback.toggle}>
        <Sign path={playback.isPlaying ? 'M4 3h3v10H4zM9 3h3v10H9z' : 'M5 3l8 5-8 5z'} />
      </button>
      <button type="button" aria-label={t('forward', { minutes })} onClick={() => onSeek(atMs + stepMs)}>
        <Sign path="M5 3l6 5-6 5z" />
      </button>
      <label className={styles.speed}>
        <span className="visually-hidden">{t('speed')}</span>
        <select value={playback.speed} onChange={(event) => playback.setSpeed(Number(event.target.value) as Speed)}>
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed}>
              {speed}×
            </option>
          ))}
        </select>
      </label>
      {props.children}
    </div>
  )
}

function Sign({ path }: { readonly path: string }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">
      <path d={path} />
    </svg>
  )
}

/** A moment as a clock of Madrid shows it. */
export function Moment({ ms }: { readonly ms: number }) {
  const format = useTimes()
  return <time dateTime={new Date(ms).toISOString()}>{format.dateTime(ms, CLOCK_SECONDS)}</time>
}

/** The slider over a stretch of time. Arrow keys go by `stepMs`, Page Up and Down by an hour. */
export function TimeSlider(props: {
  readonly fromMs: number
  readonly toMs: number
  readonly atMs: number
  readonly stepMs: number
  readonly label: string
  readonly onSeek: (ms: number) => void
}) {
  const format = useTimes()
  const { fromMs, toMs, atMs, stepMs } = props
  return (
    <input
      type="range"
      className={styles.slider}
      min={fromMs}
      max={toMs}
      step={1_000}
      value={Math.min(Math.max(atMs, fromMs), toMs)}
      aria-label={props.label}
      aria-valuetext={format.dateTime(atMs, CLOCK_SECONDS)}
      onChange={(event) => props.onSeek(Number(event.target.value))}
      onKeyDown={(event) => {
        const hourMs = 3_600_000
        const by = { ArrowLeft: -stepMs, ArrowDown: -stepMs, ArrowRight: stepMs, ArrowUp: stepMs, PageUp: hourMs, PageDown: -hourMs }[
          event.key
        ]
        if (by === undefined) return
        event.preventDefault()
        props.onSeek(Math.min(Math.max(atMs + by, fromMs), toMs))
      }}
    />
  )
}
