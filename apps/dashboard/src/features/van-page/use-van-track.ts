'use client'

import type { TrailPoint } from '@km0/contracts/panel'
import type { VanTrackHeader } from '@km0/contracts/van-day-panel'
import { useEffect, useMemo, useState } from 'react'
import { EMPTY_TRACK, extended, readTrack, type Track } from '../playback/track-columns.ts'

/** A day that goes on is read again so often; what is newer comes with the page's other answers. */
const AGAIN_MS = 60_000
const AFTER_FAILURE_MS = 10_000

export interface VanTrack {
  readonly line: 'loading' | 'ready' | 'failed'
  readonly track: Track
  /** null until it is there. */
  readonly header: VanTrackHeader | null
  /** What the server says is wrong; null when it did not answer. */
  readonly reason: string | null
}

interface State {
  readonly path: string
  readonly read: ReturnType<typeof readTrack> | null
  readonly failed: boolean
  readonly reason: string | null
}

/** The track of a van and day, with what has been heard since it was read. */
export function useVanTrack(van: string, day: string, goesOn: boolean, live: readonly TrailPoint[]): VanTrack {
  const path = `/api/van-day/track?${new URLSearchParams({ van, day })}`
  const [state, setState] = useState<State>({ path, read: null, failed: false, reason: null })
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async () => {
      let waitMs = AFTER_FAILURE_MS
      try {
        const response = await fetch(path, { signal: abort.signal })
        if (response.ok) {
          const value = readTrack(await response.arrayBuffer())
          setState({ path, read: value, failed: false, reason: null })
          waitMs = AGAIN_MS
          if (!goesOn && value.header.source === 'lake') return
        } else {
          const { error, hint } = (await response.json()) as { readonly error: string; readonly hint: string }
          setState((known) => ({ path, read: known.path === path ? known.read : null, failed: true, reason: `${error}. ${hint}` }))
        }
      } catch {
        if (abort.signal.aborted) return
        setState((known) => ({ path, read: known.path === path ? known.read : null, failed: true, reason: null }))
      }
      timer = setTimeout(() => void read(), waitMs)
    }
    void read()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [path, goesOn])
  const read = state.path === path ? state.read : null
  const track = useMemo(() => extended(read?.track ?? EMPTY_TRACK, live), [read, live])
  const line = read !== null ? 'ready' : state.failed && state.path === path ? 'failed' : 'loading'
  return { line, track, header: read?.header ?? null, reason: state.reason }
}
