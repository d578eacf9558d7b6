import { useTranslations } from 'next-intl'
import type { FeedStatus } from './prepare-feed.ts'

/** What is to be said over everything when something is not well, as title and text; null while all is. */
export function useFeedWords(): (feed: FeedStatus, time: string) => readonly [title: string, text: string] | null {
  const t = useTranslations('feed')
  const cause = useTranslations('outages.cause')
  return (feed, time) => {
    switch (feed.kind) {
      case 'live':
        return null
      case 'lost':
        return [t('bannerLostTitle'), t('bannerLost', { time })]
      case 'none':
        return [t('bannerNoneTitle'), t('bannerNone')]
      case 'stale': {
        const known = feed.cause !== null && feed.cause !== 'unknown'
        const title = known ? t('bannerStaleCause', { time, cause: cause(feed.cause) }) : t('bannerStaleTitle', { time })
        return [title, feed.cause === 'catching-up' ? t('bannerCatchingUp') : t('bannerStale')]
      }
      case 'partly': {
        const partitions = (feed.partitions ?? []).join(', ')
        return [t('bannerPartlyTitle', { time, cause: cause(feed.cause ?? 'partition') }), t('bannerPartly', { partitions })]
      }
    }
  }
}
