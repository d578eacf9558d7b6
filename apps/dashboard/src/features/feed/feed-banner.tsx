'use client'

import { useTranslations } from 'next-intl'
import styles from './feed-banner.module.css'
import { useFeedWords } from './outage-words.ts'
import type { FeedStatus } from './prepare-feed.ts'
import { CLOCK, CLOCK_SECONDS } from './time-formats.ts'
import { useTimes } from './use-times.ts'

/** Says over the map why what is drawn is old, once for everybody. Nothing while all is well. */
export function FeedBanner({ feed, failed }: { readonly feed: FeedStatus | null; readonly failed: boolean }) {
  const t = useTranslations('error')
  const format = useTimes()
  const words = useFeedWords()
  const time = feed?.sinceMs == null ? '' : format.dateTime(feed.sinceMs, feed.kind === 'lost' ? CLOCK_SECONDS : CLOCK)
  const said = failed ? [t('title'), t('hint')] : feed === null ? null : words(feed, time)
  return (
    <div role="status" className={styles.region}>
      {said !== null && (
        <div className={styles.banner} data-kind={failed ? 'lost' : feed?.kind} data-cause={feed?.cause ?? undefined}>
          <strong>{said[0]}</strong>
          <p>{said[1]}</p>
        </div>
      )}
    </div>
  )
}
