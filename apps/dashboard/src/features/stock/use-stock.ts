'use client'

import { type ServerToStockPanel, STOCK_SOCKET, type StockPanelToServer } from '@km0/contracts/stock-panel'
import { useEffect, useState } from 'react'
import { io, type Socket } from 'socket.io-client'
import { applyStockDelta, type StockModel, stockModelOf, stockNowMs } from './stock-model.ts'

/** `quiet`: the line is there, but the server cannot say anything new. */
export type StockConnection = 'connecting' | 'failed' | 'connected' | 'quiet' | 'lost'

export interface LiveStock {
  /** null until the first snapshot. */
  readonly model: StockModel | null
  readonly connection: StockConnection
  /** Time of the server, renewed each second. */
  readonly nowMs: number
}

const FAILED_AFTER_MS = 6_000
/** The server speaks every second. */
const QUIET_AFTER_MS = 10_000

/** Stock, live: one socket for as long as the page is open. */
export function useStock(): LiveStock {
  const [state, setState] = useState<{ readonly model: StockModel | null; readonly line: 'connecting' | 'failed' | 'connected' | 'lost' }>({
    model: null,
    line: 'connecting',
  })
  const [browserNowMs, setBrowserNowMs] = useState(() => Date.now())
  useEffect(() => {
    let model: StockModel | null = null
    let resyncing = false
    const set = (line: 'connecting' | 'failed' | 'connected' | 'lost') => setState({ model, line })
    const socket: Socket<ServerToStockPanel, StockPanelToServer> = io(STOCK_SOCKET, {
      transports: ['websocket', 'polling'],
      reconnectionDelay: 500,
      reconnectionDelayMax: 2_000,
      timeout: 5_000,
    })
    const failed = setTimeout(() => {
      if (model === null) set('failed')
    }, FAILED_AFTER_MS)
    socket.on('snapshot', (snapshot) => {
      model = stockModelOf(snapshot, Date.now())
      resyncing = false
      set('connected')
    })
    socket.on('delta', (delta) => {
      if (model === null || resyncing) return
      const next = applyStockDelta(model, delta, Date.now())
      if (next === null) {
        resyncing = true
        socket.emit('resync')
        return
      }
      model = next
      set('connected')
    })
    let again: ReturnType<typeof setTimeout> | undefined
    socket.on('disconnect', (reason) => {
      if (reason === 'io server disconnect') again = setTimeout(() => socket.connect(), 500)
      // The sequence may begin anew when the server comes back: only its snapshot counts.
      resyncing = true
      set(model === null ? 'connecting' : 'lost')
    })
    const clock = setInterval(() => setBrowserNowMs(Date.now()), 1_000)
    return () => {
      clearTimeout(failed)
      clearTimeout(again)
      clearInterval(clock)
      socket.disconnect()
    }
  }, [])
  const { model, line } = state
  const quiet = model !== null && line === 'connected' && browserNowMs - model.receivedMs > QUIET_AFTER_MS
  return { model, connection: quiet ? 'quiet' : line, nowMs: model === null ? browserNowMs : stockNowMs(model, browserNowMs) }
}
