import type { Server, Socket } from 'socket.io'
import { keptSession } from './session.ts'
import type { SessionWatch } from './session-watch.ts'

/** What a socket that may not come in is told: `connect_error` with this message. The page then asks to sign in. */
export const SIGN_IN_WORD = 'sign-in'
/** What a socket is told that may stay no longer, before it is closed. */
export const SIGNED_OUT_EVENT = 'signed-out'

/** Lets sockets in that have a session, in every namespace also of later, gives them its scope, and puts them out when it ends. */
export function guardSockets(sockets: Pick<Server, 'use' | 'on'>, watch: Pick<SessionWatch, 'add'>): void {
  const guard = (socket: Socket, next: (error?: Error) => void) => {
    const session = keptSession(socket.request)
    if (session === null) return next(new Error(SIGN_IN_WORD))
    socket.data.scope = session.scope
    const forget = watch.add(session, socket.request.headers, () => {
      socket.emit(SIGNED_OUT_EVENT)
      socket.disconnect(true)
    })
    // Not `disconnect`: a socket that another check refuses never has that.
    socket.conn.once('close', forget)
    next()
  }
  sockets.use(guard)
  sockets.on('new_namespace', (namespace) => void namespace.use(guard))
}
