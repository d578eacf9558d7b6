'use client'

import { STOCK_SOCKET, type StockDelta, type StockSnapshot } from '@km0/contracts/stock-panel'
import { useEffect, useState } from 'react'
import { type Connection, followLine, openLine } from '../feed/live-line.ts'
import { applyStockDelta, type StockModel, stockModelOf, stockNowMs } from './stock-model.ts'

/** `quiet`: the line is there, but the server cannot say anything new. */
export type StockConnection = Connection | 'quiet'

export interface LiveStock {
  /** null until the first snapshot. */
  readonly model: StockModel | null
  readonly connection: StockConnection
  /** Time of the server, renewed each second. */
  readonly nowMs: number
}

/** The server speaks every second. */
const QUIET_AFTER_MS = 10_000

/** Stock, live: one socket for as long as the page is open. */
export function useStock(): LiveStock {
  const [state, setState] = useState<{ readonly model: StockModel | null; readonly line: Connection }>({ model: null, line: 'connecting' })
  const [browserNowMs, setBrowserNowMs] = useState(() => Date.now())
  useEffect(
    () =>
      followLine<StockModel>({
        socket: openLine(STOCK_SOCKET),
        modelOf: (wire) => stockModelOf(wire as StockSnapshot, Date.now()),
        apply: (model, wire) => applyStockDelta(model, wire as StockDelta, Date.now()),
        onChange: (model, line) => setState({ model, line }),
        speaksAlways: false,
      }),
    [],
  )
  useEffect(() => {
    const clock = setInterval(() => setBrowserNowMs(Date.now()), 1_000)
    return () => clearInterval(clock)
  }, [])
  const { model, line } = state
  const quiet = model !== null && line === 'connected' && browserNowMs - model.receivedMs > QUIET_AFTER_MS
  return { model, connection: quiet ? 'quiet' : line, nowMs: model === null ? browserNowMs : stockNowMs(model, browserNowMs) }
}
