'use client'

import { useEffect, useRef, useState } from 'react'
import { HOUR_MS, hourOf, type ReplayHour, readHour } from './prepare-replay.ts'

/** Hours that are kept: a day. */
const KEPT = 26
/** A slider that is on its way passes many hours: only where it rests is asked. */
const REST_MS = 120
const AFTER_FAILURE_MS = 10_000
/** An hour in which points may still come is asked again. */
const AGAIN_MS = 60_000
const SETTLED_AFTER_MS = 2 * HOUR_MS

export interface HourHandle {
  /** null while it is on its way, or cannot be had. */
  readonly hour: ReplayHour | null
  readonly line: 'loading' | 'ready' | 'failed'
  /** What the server says is wrong, in its words. */
  readonly reason: string | null
}

interface Failure {
  readonly fromMs: number
  readonly reason: string | null
}

/** The hour that holds a moment, and the next one before it is needed. What the slider has left behind is no longer asked for. */
export function useReplayHour(atMs: number, nowMs: number): HourHandle {
  const [hours, setHours] = useState<ReadonlyMap<number, { readonly hour: ReplayHour; readonly readMs: number }>>(new Map())
  const [failure, setFailure] = useState<Failure | null>(null)
  const fromMs = hourOf(atMs)
  const known = hours.get(fromMs)
  const isLate = atMs - fromMs > HOUR_MS / 2
  const hasNext = hours.has(fromMs + HOUR_MS) || fromMs + HOUR_MS > nowMs
  const latest = useRef(hours)
  latest.current = hours
  const now = useRef(nowMs)
  now.current = nowMs
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (hourMs: number) => {
      try {
        const response = await fetch(`/api/replay/hour?from=${hourMs}`, { signal: abort.signal })
        if (!response.ok) {
          const { error, hint } = (await response.json()) as { readonly error: string; readonly hint: string }
          throw new Error(`${error}. ${hint}`)
        }
        const hour = readHour(await response.arrayBuffer())
        setHours((before) => withHour(before, hour))
        setFailure(null)
      } catch (error) {
        if (abort.signal.aborted) return
        // A line that is cut has nothing to say.
        setFailure({ fromMs: hourMs, reason: error instanceof TypeError ? null : String((error as Error).message) })
      }
    }
    const go = async () => {
      const own = latest.current.get(fromMs)
      const mayGrow = fromMs + HOUR_MS > now.current - SETTLED_AFTER_MS
      if (own === undefined || (mayGrow && Date.now() - own.readMs >= AGAIN_MS)) await read(fromMs)
      if (!abort.signal.aborted) timer = setTimeout(() => void go(), latest.current.has(fromMs) ? AGAIN_MS : AFTER_FAILURE_MS)
    }
    timer = setTimeout(() => void go(), latest.current.has(fromMs) ? 0 : REST_MS)
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [fromMs])
  useEffect(() => {
    if (!isLate || hasNext || known === undefined) return
    const abort = new AbortController()
    fetch(`/api/replay/hour?from=${fromMs + HOUR_MS}`, { signal: abort.signal })
      .then(async (response) => {
        if (!response.ok) return
        const hour = readHour(await response.arrayBuffer())
        setHours((before) => withHour(before, hour))
      })
      // It is asked for again when it is needed.
      .catch(() => undefined)
    return () => abort.abort()
  }, [fromMs, isLate, hasNext, known])
  const failed = failure !== null && failure.fromMs === fromMs
  return {
    hour: known?.hour ?? null,
    line: known !== undefined ? 'ready' : failed ? 'failed' : 'loading',
    reason: failed ? failure.reason : null,
  }
}

type Hours = ReadonlyMap<number, { readonly hour: ReplayHour; readonly readMs: number }>

function withHour(before: Hours, hour: ReplayHour): Hours {
  const after = new Map(before)
  after.delete(hour.fromMs)
  after.set(hour.fromMs, { hour, readMs: Date.now() })
  for (const oldest of after.keys()) {
    if (after.size <= KEPT) break
    after.delete(oldest)
  }
  return after
}
