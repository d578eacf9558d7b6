/** Where to go after signing in: a path of this panel, or `/` for anything else, e.g. another site's address. */
export function wayBack(text: string): string {
  if (!URL.canParse(text, 'http://panel')) return '/'
  const url = new URL(text, 'http://panel')
  const isOurs = url.origin === 'http://panel' && text.startsWith('/') && !text.startsWith('//') && url.pathname !== '/entrada'
  return isOurs ? url.pathname + url.search + url.hash : '/'
}

/** The token of a one-time link, from the link or from what was copied of it; null for what is none. */
export function tokenOf(text: string): string | null {
  return /(?:^|#)([A-Za-z]{32})$/.exec(text.trim())?.[1] ?? null
}
