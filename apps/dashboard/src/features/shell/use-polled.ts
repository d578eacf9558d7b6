'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import { sessionLine } from '../sign-in/session-line.ts'

/** Over a line that is dead without saying so an answer never comes, nor a word that it will not. */
const ANSWER_WITHIN_MS = 30_000
/** After so many intervals without an answer what is shown is called old. */
const STALE_AFTER_INTERVALS = 3

export type Line = 'loading' | 'ready' | 'stale' | 'failed'

export interface Polled<View> {
  /** null until the first answer to the path. */
  readonly view: View | null
  readonly line: Line
  /** What the server says is wrong, in its words; null when it did not answer at all. */
  readonly reason: string | null
  /** Time of the server, renewed each second. */
  readonly nowMs: number
  /** How old what is shown is. */
  readonly ageMs: number
  readonly refresh: () => void
}

interface State<View> {
  readonly path: string | null
  readonly view: View | null
  readonly failed: boolean
  readonly reason: string | null
  readonly receivedMs: number
}

/**
 * What GET `path` answers, asked for again and again: `everyMs` after an answer. With null nothing is asked. Of two paths one after the other only
 * the answer to the newer counts.
 */
export function usePolled<View extends { readonly nowMs: number }>(
  path: string | null,
  everyMs: (view: View | null) => number,
): Polled<View> {
  const [state, setState] = useState<State<View>>({ path, view: null, failed: false, reason: null, receivedMs: 0 })
  const [browserNowMs, setBrowserNowMs] = useState(() => Date.now())
  const again = useRef<() => void>(() => undefined)
  const interval = useRef(everyMs)
  interval.current = everyMs
  useEffect(() => {
    const clock = setInterval(() => setBrowserNowMs(Date.now()), 1_000)
    return () => clearInterval(clock)
  }, [])
  useEffect(() => {
    if (path === null) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let view: View | null = null
    let receivedMs = 0
    const read = async () => {
      clearTimeout(timer)
      try {
        const response = await fetch(path, { signal: AbortSignal.any([abort.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]) })
        const body = (await response.json()) as View | { readonly error: string; readonly hint: string }
        if (response.status === 401) sessionLine.refused()
        if (!response.ok) {
          const { error, hint } = body as { readonly error: string; readonly hint: string }
          setState({ path, view, failed: true, reason: `${error}. ${hint}`, receivedMs })
        } else {
          view = body as View
          receivedMs = Date.now()
          setState({ path, view, failed: false, reason: null, receivedMs })
        }
      } catch {
        if (abort.signal.aborted) return
        setState({ path, view, failed: true, reason: null, receivedMs })
      }
      if (!abort.signal.aborted) timer = setTimeout(() => void read(), interval.current(view))
    }
    again.current = () => void read()
    const forget = sessionLine.onFound(() => void read())
    void read()
    // A page that slept, or had no network, does not wait for its next turn.
    const wake = () => {
      if (document.visibilityState === 'visible' && Date.now() - receivedMs > interval.current(view)) void read()
    }
    document.addEventListener('visibilitychange', wake)
    window.addEventListener('online', wake)
    return () => {
      document.removeEventListener('visibilitychange', wake)
      window.removeEventListener('online', wake)
      abort.abort()
      forget()
      clearTimeout(timer)
      again.current = () => undefined
    }
  }, [path])
  const refresh = useCallback(() => again.current(), [])
  const known = state.path === path
  const view = known ? state.view : null
  const passedMs = Math.max(0, browserNowMs - state.receivedMs)
  const isOld = passedMs > STALE_AFTER_INTERVALS * everyMs(view)
  const failed = known && state.failed
  return {
    view,
    line: view === null ? (failed ? 'failed' : 'loading') : failed || isOld ? 'stale' : 'ready',
    reason: known ? state.reason : null,
    nowMs: view === null ? browserNowMs : view.nowMs + passedMs,
    ageMs: view === null ? 0 : passedMs,
    refresh,
  }
}
