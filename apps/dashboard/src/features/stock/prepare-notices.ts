import type { StockNoticeView } from '@km0/contracts/stock-panel'

/** Ids of notices that this browser has shown are kept up to so many. */
const REMEMBERED = 500

/**
 * What is to be shown of the notices that have come, and what is remembered then. Each is shown once a browser, whoever restarts. A browser
 * that has never seen one begins with those to come: nobody wants the news of before their first visit.
 */
export function newNotices(
  notices: readonly StockNoticeView[],
  remembered: readonly number[] | null,
): { readonly show: readonly StockNoticeView[]; readonly remember: readonly number[] } {
  const ids = notices.map((notice) => notice.id)
  if (remembered === null) return { show: [], remember: ids.slice(-REMEMBERED) }
  const known = new Set(remembered)
  const show = notices.filter((notice) => !known.has(notice.id))
  return { show, remember: show.length === 0 ? remembered : [...remembered, ...show.map((notice) => notice.id)].slice(-REMEMBERED) }
}
