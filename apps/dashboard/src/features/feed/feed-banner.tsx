'use client'

import { useFormatter, useTranslations } from 'next-intl'
import styles from './feed-banner.module.css'
import type { FeedStatus } from './prepare-feed.ts'
import { CLOCK, CLOCK_SECONDS } from './time-formats.ts'

/** Says over the map why what is drawn is old. Nothing while all is well. */
export function FeedBanner({ feed, failed }: { readonly feed: FeedStatus | null; readonly failed: boolean }) {
  const t = useTranslations()
  const format = useFormatter()
  const time = feed?.sinceMs == null ? '' : format.dateTime(feed.sinceMs, feed.kind === 'lost' ? CLOCK_SECONDS : CLOCK)
  const words = () => {
    if (failed) return [t('error.title'), t('error.hint')]
    if (feed?.kind === 'lost') return [t('feed.bannerLostTitle'), t('feed.bannerLost', { time })]
    if (feed?.kind === 'stale') return [t('feed.bannerStaleTitle', { time }), t('feed.bannerStale')]
    if (feed?.kind === 'none') return [t('feed.bannerNoneTitle'), t('feed.bannerNone')]
    return null
  }
  const said = words()
  return (
    <div role="status" className={styles.region}>
      {said !== null && (
        <div className={styles.banner} data-kind={failed ? 'lost' : feed?.kind}>
          <strong>{said[0]}</strong>
          <p>{said[1]}</p>
        </div>
      )}
    </div>
  )
}
