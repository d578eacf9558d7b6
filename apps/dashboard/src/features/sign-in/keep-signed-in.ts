import type { Socket } from 'socket.io-client'
import { sessionLine } from './session-line.ts'

/** What the server says to a socket that has no session (server/sign-in/socket-guard.ts). */
const SIGN_IN_WORD = 'sign-in'

/**
 * Lets a socket go on after its session has ended: it says so, so that the page asks to sign in, and connects anew when somebody has. Once it is
 * disconnected by the page itself it waits no longer.
 */
export function keepSignedIn<Line extends Pick<Socket, 'on' | 'connect' | 'disconnect'>>(socket: Line): Line {
  let stop: (() => void) | null = null
  const disconnect = socket.disconnect.bind(socket)
  socket.disconnect = () => {
    stop?.()
    stop = null
    return disconnect()
  }
  socket.on('signed-out', () => sessionLine.refused())
  socket.on('connect_error', (error: Error) => {
    if (error.message !== SIGN_IN_WORD) return
    // The line itself knows the cookie of before: a new one is needed.
    disconnect()
    stop?.()
    stop = sessionLine.whenFound(() => void socket.connect())
    sessionLine.refused()
  })
  return socket
}
