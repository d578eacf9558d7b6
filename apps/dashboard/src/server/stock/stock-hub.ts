import { type Scope, type ServerToStockPanel, STOCK_SOCKET, type StockPanelToServer } from '@km0/contracts'
import type { StockReadOptions, StoredStock } from '@km0/serving'
import type { Namespace, Server } from 'socket.io'
import { roomOf } from '../scope.ts'
import { StockState } from './stock-state.ts'

/** The guard of the server gives each socket its scope. */
type StockSockets = Namespace<StockPanelToServer, ServerToStockPanel, Record<string, never>, { scope: Scope }>

/** How often the store is read while somebody looks. */
const READ_EVERY_MS = 1_000
const DAY_MS = 86_400_000
/** Somebody who comes back within it is still told what they missed. */
const NOTICES_MS = 15 * 60_000
const ROWS = 2_000

export interface StockHubOptions {
  readonly read: (scope: Scope, options: StockReadOptions) => Promise<StoredStock>
  readonly nowMs: () => number
  readonly onTrouble: (error: unknown) => void
}

/**
 * Keeps browsers up to date with stock: a snapshot on every connect, then what changes. The store is read once a second and scope, so nothing
 * is missed whoever restarts, and nothing is read while nobody looks.
 */
export class StockHub {
  readonly #options: StockHubOptions
  readonly #states = new Map<string, { readonly scope: Scope; readonly state: StockState }>()
  #sockets: StockSockets | null = null
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | null = null
  #trouble: string | null = null

  constructor(options: StockHubOptions) {
    this.#options = options
  }

  /** Why the store could not be read the last time; null when it could. */
  get trouble(): string | null {
    return this.#trouble
  }

  attach(server: Pick<Server, 'of'>): void {
    const sockets = server.of(STOCK_SOCKET) as StockSockets
    this.#sockets = sockets
    sockets.on('connection', (socket) => {
      const room = roomOf(socket.data.scope)
      const send = () => {
        const snapshot = this.#states.get(room)?.state.snapshot(this.#options.nowMs()) ?? null
        if (snapshot === null) void this.refresh()
        else socket.emit('snapshot', snapshot)
      }
      if (!this.#states.has(room)) this.#states.set(room, { scope: socket.data.scope, state: new StockState() })
      void socket.join(room)
      socket.on('resync', send)
      send()
    })
    this.#timer = setInterval(() => void this.refresh(), READ_EVERY_MS)
  }

  /** Reads the store for everybody who looks, and tells what has changed. One reading at a time; errors do not get out. */
  refresh(): Promise<void> {
    this.#reading ??= this.#refreshAll().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #refreshAll(): Promise<void> {
    for (const [room, { scope, state }] of this.#states) {
      if ((this.#sockets?.adapter.rooms.get(room)?.size ?? 0) === 0) {
        this.#states.delete(room)
        continue
      }
      try {
        await this.#refreshRoom(room, scope, state)
        this.#trouble = null
      } catch (error) {
        if (this.#trouble === null) this.#options.onTrouble(error)
        this.#trouble = error instanceof Error ? error.message : String(error)
      }
    }
  }

  async #refreshRoom(room: string, scope: Scope, state: StockState): Promise<void> {
    const nowMs = this.#options.nowMs()
    const delta = state.update(await this.#options.read(scope, readOptions(nowMs)), nowMs)
    if (delta !== null) this.#sockets?.to(room).emit('delta', delta)
    else this.#sockets?.to(room).emit('snapshot', state.snapshot(nowMs)!)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** What the panel shows of the store at `nowMs`. */
export function readOptions(nowMs: number): StockReadOptions {
  return { endedAfterMs: nowMs - DAY_MS, noticedAfterMs: nowMs - NOTICES_MS, limit: ROWS }
}
