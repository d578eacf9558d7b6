'use client'

import type { LedgerView } from '@km0/contracts/ledger-panel'
import { useCallback, useEffect, useRef, useState } from 'react'

const BUSY_EVERY_MS = 1_500
const QUIET_EVERY_MS = 15_000
/** After so long without an answer what is shown is called old. */
const STALE_AFTER_MS = 40_000

export interface LiveLedger {
  /** null until the first answer. */
  readonly view: LedgerView | null
  readonly line: 'loading' | 'ready' | 'stale' | 'failed'
  /** Time of the server, renewed each second. */
  readonly nowMs: number
  readonly refresh: () => void
}

/** Runs and the report of the one that is chosen (null: the newest), asked for again and again: often while one is in work. */
export function useLedger(chosen: number | null): LiveLedger {
  const [view, setView] = useState<LedgerView | null>(null)
  const [failed, setFailed] = useState(false)
  const [receivedMs, setReceivedMs] = useState(0)
  const [browserNowMs, setBrowserNowMs] = useState(() => Date.now())
  const again = useRef<() => void>(() => undefined)
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async () => {
      clearTimeout(timer)
      let busy = false
      try {
        const response = await fetch(`/api/ledger${chosen === null ? '' : `?run=${chosen}`}`, { signal: abort.signal })
        if (!response.ok) throw new Error(String(response.status))
        const next = (await response.json()) as LedgerView
        busy = next.runs.some(({ state }) => state === 'waiting' || state === 'running')
        setView(next)
        setReceivedMs(Date.now())
        setFailed(false)
      } catch {
        if (abort.signal.aborted) return
        setFailed(true)
      }
      timer = setTimeout(() => void read(), busy ? BUSY_EVERY_MS : QUIET_EVERY_MS)
    }
    again.current = () => void read()
    void read()
    const clock = setInterval(() => setBrowserNowMs(Date.now()), 1_000)
    return () => {
      abort.abort()
      clearTimeout(timer)
      clearInterval(clock)
    }
  }, [chosen])
  const refresh = useCallback(() => again.current(), [])
  const passedMs = Math.max(0, browserNowMs - receivedMs)
  const line = view === null ? (failed ? 'failed' : 'loading') : failed || passedMs > STALE_AFTER_MS ? 'stale' : 'ready'
  return { view, line, nowMs: view === null ? browserNowMs : view.nowMs + passedMs, refresh }
}
