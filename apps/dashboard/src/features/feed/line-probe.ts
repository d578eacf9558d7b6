/** A line on which this takes longer is left to its own tries. */
const GETS_THROUGH_WITHIN_MS = 900

/**
 * Whether a connection that is begun now gets through to this page's server. A socket of its own each time: a request may be sent over a connection that is
 * dead without saying so, or wait for one. Never rejects; false in a page that nobody sees, which has time.
 */
export function getsThrough(): Promise<boolean> {
  if (document.visibilityState === 'hidden') return Promise.resolve(false)
  const { protocol, host } = window.location
  const socket = new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/socket.io/?EIO=4&transport=websocket`)
  return new Promise((resolve) => {
    const end = (isThrough: boolean) => {
      clearTimeout(timer)
      resolve(isThrough)
      socket.close()
    }
    const timer = setTimeout(() => end(false), GETS_THROUGH_WITHIN_MS)
    socket.onopen = () => end(true)
    socket.onerror = () => end(false)
  })
}
