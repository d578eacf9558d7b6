/** A line on which this takes longer is left to its own tries. */
const GETS_THROUGH_WITHIN_MS = 900
/** Nothing that a session or the store is asked for. */
const SMALL = '/icon.svg'

/**
 * Whether a request that is sent now gets through to this page's server, whatever it answers. Not a socket: a browser opens one at a time to a server,
 * and the one that hangs would stand before it. Never rejects; false in a page that nobody sees, which has time.
 */
export async function getsThrough(): Promise<boolean> {
  if (document.visibilityState === 'hidden') return false
  try {
    // Given up, its connection is closed: the next one does not wait on a dead one again.
    await fetch(SMALL, { method: 'HEAD', cache: 'no-store', redirect: 'manual', signal: AbortSignal.timeout(GETS_THROUGH_WITHIN_MS) })
    return true
  } catch {
    return false
  }
}
