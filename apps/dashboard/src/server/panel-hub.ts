import { encodeBatch, encodeDelta, encodeSnapshot, type PanelToServer, type Scope, type ServerToPanel } from '@km0/contracts'
import type { Server } from 'socket.io'
import type { PanelState } from './panel-state.ts'
import { roomOf } from './scope.ts'

export type PanelSockets = Server<PanelToServer, ServerToPanel, Record<string, never>, { scope: Scope }>

/** How often browsers are told what changed. */
export const TICK_MS = 1_000
/** How often they are told where vans have moved: for the eyes, between two deltas. */
export const BATCH_MS = 100
/** A browser that asks for snapshots more often than this gets one all the same, but later. */
const RESYNC_EVERY_MS = 2_000

export interface PanelHubOptions {
  readonly state: PanelState
  readonly sockets: PanelSockets
  readonly machineNowMs: () => number
  readonly tickMs?: number | undefined
  readonly batchMs?: number | undefined
}

/**
 * Keeps browsers up to date: a snapshot on every connect, then a delta a second,
 * and between deltas packed batches of the vans that moved. One room a scope, so a delta is made once for all who may
 * see the same. Deltas are volatile: a slow line drops them, notices by their number and asks for a snapshot.
 */
export class PanelHub {
  readonly #state: PanelState
  readonly #sockets: PanelSockets
  readonly #machineNowMs: () => number
  readonly #tickMs: number
  readonly #batchMs: number
  #timer: NodeJS.Timeout | undefined
  #batchTimer: NodeJS.Timeout | undefined
  /** Until everything stored has been read, a browser waits: an empty list would be a lie. */
  #loaded = false

  constructor(options: PanelHubOptions) {
    this.#state = options.state
    this.#sockets = options.sockets
    this.#machineNowMs = options.machineNowMs
    this.#tickMs = options.tickMs ?? TICK_MS
    this.#batchMs = options.batchMs ?? BATCH_MS
  }

  /** Browsers that are connected. */
  get connected(): number {
    return this.#sockets.of('/').sockets.size
  }

  start(): void {
    this.#sockets.on('connection', (socket) => {
      let sentMs = Number.NEGATIVE_INFINITY
      const send = () => {
        if (!this.#loaded) return
        sentMs = performance.now()
        socket.emit('snapshot', encodeSnapshot(this.#state.snapshot(socket.data.scope, this.#machineNowMs())))
      }
      let waiting: NodeJS.Timeout | undefined
      socket.on('resync', () => {
        waiting ??= setTimeout(
          () => {
            waiting = undefined
            send()
          },
          Math.max(0, sentMs + RESYNC_EVERY_MS - performance.now()),
        )
      })
      socket.on('disconnect', () => clearTimeout(waiting))
      void socket.join(roomOf(socket.data.scope))
      send()
    })
    this.#timer = setInterval(() => this.#tick(), this.#tickMs)
    this.#batchTimer = setInterval(() => this.#sendMoves(), this.#batchMs)
  }

  /** Everything stored has been read: whoever waits gets a snapshot. */
  loaded(): void {
    this.#loaded = true
    this.#sendSnapshots()
  }

  stop(): void {
    clearInterval(this.#timer)
    clearInterval(this.#batchTimer)
  }

  #sendMoves(): void {
    const moved = this.#state.takeMoved()
    if (!this.#loaded || moved.length === 0) return
    const sentMs = this.#machineNowMs()
    const nowMs = this.#state.nowMs(sentMs)
    for (const [room, scope] of this.#scopes()) {
      const points = this.#state.batchFor(scope, moved)
      // Coordinates do not get shorter by deflating, and nobody waits for the time it takes.
      if (points.length > 0) this.#sockets.to(room).compress(false).volatile.emit('points', encodeBatch({ nowMs, sentMs, points }))
    }
  }

  #tick(): void {
    if (!this.#loaded) return
    const changes = this.#state.takeChanges(this.#machineNowMs())
    if (changes.everything) {
      this.#sendSnapshots()
      return
    }
    for (const [room, scope] of this.#scopes()) {
      this.#sockets.to(room).volatile.emit('delta', encodeDelta(this.#state.deltaFor(scope, changes)))
    }
  }

  #sendSnapshots(): void {
    for (const [room, scope] of this.#scopes()) {
      this.#sockets.to(room).emit('snapshot', encodeSnapshot(this.#state.snapshot(scope, this.#machineNowMs())))
    }
  }

  #scopes(): Map<string, Scope> {
    return new Map([...this.#sockets.of('/').sockets.values()].map((socket) => [roomOf(socket.data.scope), socket.data.scope]))
  }
}
