import type { DayView } from '@km0/contracts/days-panel'
import { useTranslations } from 'next-intl'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import styles from './days.module.css'

const HOUR_MS = 3_600_000
const WIDTH = 320
const HEIGHT = 72

/** Kilometres by hour. An hour of which nothing is known has no bar, one without a kilometre a line at the foot. */
export function HoursChart({ hours, day }: Pick<DayView, 'hours' | 'day'>) {
  const t = useTranslations('days')
  const format = useTimes()
  const count = Math.round((day.endMs - day.startMs) / HOUR_MS)
  const most = Math.max(1, ...hours.map(({ distanceMm }) => distanceMm))
  const step = WIDTH / count
  const busiest = hours.find(({ distanceMm }) => distanceMm === most)
  const label =
    busiest === undefined
      ? t('chartEmpty')
      : t('chart', { time: format.dateTime(busiest.hourMs, CLOCK), km: format.number(most / 1e6, { maximumFractionDigits: 1 }) })
  return (
    <svg className={styles.chart} viewBox={`0 0 ${WIDTH} ${HEIGHT + 14}`} role="img" aria-label={label}>
      <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      {hours.map((hour) => {
        const index = Math.round((hour.hourMs - day.startMs) / HOUR_MS)
        const height = Math.max(1.5, (hour.distanceMm / most) * (HEIGHT - 4))
        return (
          <rect
            key={hour.hourMs}
            x={index * step + 1}
            y={HEIGHT - height}
            width={step - 2}
            height={height}
            rx="1.5"
            data-live={hour.version === null}
          >
            <title>{`${format.dateTime(hour.hourMs, CLOCK)}: ${format.number(hour.distanceMm / 1e6, { maximumFractionDigits: 1 })} km`}</title>
          </rect>
        )
      })}
      {[0, 6, 12, 18].map((hour) => (
        <text key={hour} x={hour * step} y={HEIGHT + 12}>
          {format.dateTime(day.startMs + hour * HOUR_MS, CLOCK)}
        </text>
      ))}
    </svg>
  )
}
