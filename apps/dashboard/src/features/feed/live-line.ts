import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import { keepSignedIn } from '../sign-in/keep-signed-in.ts'
import { getsThrough } from './line-probe.ts'

/** `connecting`: not yet; `failed`: not yet, and it has been tried for a while; `lost`: was there. */
export type Connection = 'connecting' | 'failed' | 'connected' | 'lost'

/** The server speaks every second: whoever has heard nothing for so long asks, */
export const QUIET_AFTER_MS = 3_000
/** and takes another line when there is no answer within this. */
export const ANSWER_WITHIN_MS = 1_000
/** A first connection that takes longer is worth a word. */
export const FAILED_AFTER_MS = 6_000
const WATCH_EVERY_MS = 1_000
/** A try that has come to nothing for so long may have been begun over a line that was dead, and would be waited for long after it is mended: */
export const HANGS_AFTER_MS = 1_000
/** then a second one is tried beside it, as often as this. */
export const SEEK_EVERY_MS = 500

/** What to call: back within a second and a half of a server that answers again. */
export const LINE_OPTIONS = {
  transports: ['websocket', 'polling'],
  reconnectionDelay: 300,
  reconnectionDelayMax: 1_000,
  randomizationFactor: 0.3,
  timeout: 4_000,
} satisfies Partial<ManagerOptions & SocketOptions>

/** The part of a socket that a line needs. */
export interface LineSocket {
  on(event: string, listener: (...given: unknown[]) => void): unknown
  emit(event: 'resync'): unknown
  connect(): unknown
  disconnect(): unknown
  /** Does it try by itself? Not when its page has hung up. */
  readonly active?: boolean
}

/** The part of the page that a line needs: when it is looked at again, or has a network again. */
export interface LinePage {
  addEventListener(event: string, listener: () => void): void
  removeEventListener(event: string, listener: () => void): void
}

export interface LineOptions<Model> {
  readonly socket: LineSocket
  /** What a snapshot says. */
  readonly modelOf: (wire: unknown) => Model
  /** The model after a delta; null when one before it was missed. */
  readonly apply: (model: Model, wire: unknown) => Model | null
  readonly onChange: (model: Model | null, connection: Connection) => void
  /** False for a server that falls silent by itself when it has nothing to tell from: then only who comes back to the page looks. */
  readonly speaksAlways?: boolean
  readonly pages?: readonly LinePage[]
  /** Does a connection that is begun now reach the server? */
  readonly getsThrough?: () => Promise<boolean>
  readonly nowMs?: () => number
}

/**
 * Follows a live resource of the server for as long as it is not closed: a snapshot, then deltas that are numbered. Whatever happens to the line
 * (cut, server begun anew, machine asleep), only a snapshot of the line that works now counts again, so nothing is missed and nothing
 * counts twice. Returns what closes it; afterwards nothing of it is left.
 */
export function followLine<Model>(options: LineOptions<Model>): () => void {
  const { socket } = options
  const nowMs = options.nowMs ?? Date.now
  const pages = options.pages ?? (typeof document === 'undefined' ? [] : [document, window])
  let model: Model | null = null
  /** Deltas have nothing to change until a snapshot has come. */
  let waiting = true
  let heardMs = nowMs()
  let connected = false
  let answer: ReturnType<typeof setTimeout> | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  let seeking: ReturnType<typeof setInterval> | undefined
  let triedMs = nowMs()
  let hangsAfterMs = HANGS_AFTER_MS
  const change = (connection: Connection) => options.onChange(model, connection)
  const heard = () => {
    heardMs = nowMs()
    clearTimeout(answer)
    answer = undefined
  }
  const renew = () => {
    answer = undefined
    triedMs = nowMs()
    socket.disconnect()
    socket.connect()
  }
  const seek = async () => {
    const beganMs = nowMs()
    if (socket.active === false || beganMs - triedMs < hangsAfterMs) return
    const isThrough = await (options.getsThrough ?? getsThrough)()
    // Nothing is sought any more, or a newer try is under way.
    if (!isThrough || seeking === undefined || triedMs > beganMs) return
    renew()
    // Begun over a line that works, it may take its time.
    hangsAfterMs = LINE_OPTIONS.timeout
  }
  const stopSeeking = () => {
    clearInterval(seeking)
    seeking = undefined
  }
  const speaksAlways = options.speaksAlways ?? true
  const look = () => {
    // A server that reads its store has nothing to say yet.
    if (answer !== undefined || nowMs() - heardMs <= QUIET_AFTER_MS || (connected && waiting)) return
    if (connected && speaksAlways) socket.emit('resync')
    // A line that waits for its next try need not wait any longer when somebody looks.
    answer = setTimeout(renew, connected ? ANSWER_WITHIN_MS : 0)
  }
  const watch = setInterval(() => {
    if (connected && speaksAlways) look()
  }, WATCH_EVERY_MS)
  const failed = setTimeout(() => {
    if (model === null) change('failed')
  }, FAILED_AFTER_MS)

  socket.on('connect', () => {
    connected = true
    hangsAfterMs = HANGS_AFTER_MS
    stopSeeking()
    heard()
  })
  socket.on('connect_error', () => {
    triedMs = nowMs()
    hangsAfterMs = HANGS_AFTER_MS
  })
  socket.on('snapshot', (wire) => {
    heard()
    model = options.modelOf(wire)
    waiting = false
    change('connected')
  })
  socket.on('delta', (wire) => {
    heard()
    if (model === null || waiting) return
    const next = options.apply(model, wire)
    if (next === null) {
      waiting = true
      socket.emit('resync')
      return
    }
    model = next
    change('connected')
  })
  socket.on('disconnect', (reason) => {
    connected = false
    // The sequence may begin anew when the server comes back.
    waiting = true
    triedMs = nowMs()
    seeking ??= setInterval(() => void seek(), SEEK_EVERY_MS)
    // The one case in which the client would not come back by itself.
    if (reason === 'io server disconnect') again = setTimeout(() => socket.connect(), LINE_OPTIONS.reconnectionDelay)
    change(model === null ? 'connecting' : 'lost')
  })
  const events = ['visibilitychange', 'online', 'pageshow'] as const
  for (const page of pages) for (const event of events) page.addEventListener(event, look)
  return () => {
    for (const page of pages) for (const event of events) page.removeEventListener(event, look)
    clearInterval(watch)
    for (const timer of [answer, again, failed]) clearTimeout(timer)
    socket.disconnect()
    // It may have said so itself, just now.
    stopSeeking()
  }
}

/** A socket to a namespace of this page's server. */
export function openLine(namespace = '/'): Socket {
  // A line of its own each time: one that is closed must not keep another's listeners.
  return keepSignedIn(io(namespace, { ...LINE_OPTIONS, forceNew: true }))
}
