'use client'

import { useTranslations } from 'next-intl'
import { shortAge } from './durations.ts'
import styles from './feed-pill.module.css'
import type { FeedStatus } from './prepare-feed.ts'
import { CLOCK, CLOCK_SECONDS } from './time-formats.ts'
import type { Connection } from './use-live.ts'
import { useTimes } from './use-times.ts'

/** Whether what is shown is now, and how old the newest position is. */
export function FeedPill(props: {
  readonly feed: FeedStatus | null
  readonly connection: Connection
  readonly playing: boolean
  readonly nowMs: number
}) {
  const t = useTranslations('feed')
  const format = useTimes()
  const { feed } = props
  const kind = feed === null ? (props.connection === 'failed' ? 'lost' : 'connecting') : feed.kind
  const clock = (ms: number) => format.dateTime(ms, CLOCK)
  const text = () => {
    if (kind === 'stale' || kind === 'partly') return t(kind, { time: feed?.sinceMs == null ? '' : clock(feed.sinceMs) })
    if (kind === 'live' && props.playing) return t('playing', { time: format.dateTime(props.nowMs, CLOCK_SECONDS) })
    return t(kind)
  }
  return (
    <div className={styles.pill} data-kind={kind}>
      <span className={styles.dot} aria-hidden="true" />
      {/* The running time of a recording is not news every second. */}
      <span className={styles.text} role={kind === 'live' ? undefined : 'status'}>
        {text()}
      </span>
      {kind === 'live' && feed?.newestPointAgeMs != null && (
        <span className={styles.age}>{t('age', { age: shortAge(feed.newestPointAgeMs) })}</span>
      )}
    </div>
  )
}
