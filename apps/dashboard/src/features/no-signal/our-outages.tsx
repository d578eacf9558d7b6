import type { OutageSpan } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { CLOCK, DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import styles from './our-outages.module.css'

/** Outages of ours of the last day: the newest in a sentence, all of them behind it. Nothing when there was none. */
export function OurOutages({ spans, nowMs }: { readonly spans: readonly OutageSpan[]; readonly nowMs: number }) {
  const t = useTranslations('outages')
  const format = useTimes()
  const [newest] = spans
  if (newest === undefined) return null
  const clock = (ms: number) => format.dateTime(ms, nowMs - ms < 12 * 3_600_000 ? CLOCK : DAY_AND_CLOCK)
  const sentence = ({ fromMs, toMs, cause }: OutageSpan) => t('line', { from: clock(fromMs), to: clock(toMs), cause: t(`cause.${cause}`) })
  const minutes = ({ fromMs, toMs }: OutageSpan) => t('minutes', { minutes: Math.max(1, Math.round((toMs - fromMs) / 60_000)) })
  const where = ({ partitions }: OutageSpan) => (partitions === null ? t('whole') : t('parts', { partitions: partitions.join(', ') }))
  return (
    <details className={styles.outages} data-outages={spans.length}>
      <summary>
        {sentence(newest)}
        {spans.length > 1 && <span className={styles.more}>{t('more', { count: spans.length - 1 })}</span>}
      </summary>
      <p>{t('rule')}</p>
      <ul>
        {spans.map((span) => (
          <li key={`${span.fromMs}-${span.toMs}`}>
            <span>
              {clock(span.fromMs)}–{clock(span.toMs)} · {minutes(span)}
            </span>
            <span>
              {t(`cause.${span.cause}`)} · {where(span)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
