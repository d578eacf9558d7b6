'use client'

import { useCallback, useEffect, useRef, useState } from 'react'

/** Seconds of the platform in a second of ours. */
export const SPEEDS = [1, 2, 5, 10, 30, 60] as const
export type Speed = (typeof SPEEDS)[number]

/** The page is told so often while it plays; the map each frame. */
const TELL_EVERY_MS = 200
/** Who wants no motion sees a picture a second. */
const STILL_EVERY_MS = 1_000

export interface Playback {
  readonly isPlaying: boolean
  readonly speed: Speed
  readonly setSpeed: (speed: Speed) => void
  readonly toggle: () => void
  readonly pause: () => void
}

export interface PlaybackOptions {
  /** The moment that is shown; moving it from outside moves what plays. */
  readonly atMs: number
  /** Where it stops. */
  readonly toMs: number
  readonly onAt: (atMs: number) => void
  /** It has come to the end. */
  readonly onEnd?: () => void
  /** Each frame; must be quick. */
  readonly onFrame?: (atMs: number) => void
}

/** Plays a stretch of time. Time comes from the browser's clock, so a frame that is late skips nothing and slows nothing. */
export function usePlayback(options: PlaybackOptions): Playback {
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<Speed>(10)
  const latest = useRef(options)
  latest.current = options
  const told = useRef(options.atMs)
  useEffect(() => {
    if (!isPlaying) return
    const isStill = window.matchMedia('(prefers-reduced-motion: reduce)').matches
    let frame = 0
    let base = { atMs: latest.current.atMs, clockMs: performance.now() }
    let toldMs = performance.now()
    told.current = base.atMs
    const step = (clockMs: number) => {
      // Somebody has moved the slider meanwhile.
      if (latest.current.atMs !== told.current) {
        base = { atMs: latest.current.atMs, clockMs }
        told.current = latest.current.atMs
      }
      const atMs = Math.min(latest.current.toMs, base.atMs + Math.max(0, clockMs - base.clockMs) * speed)
      const isOver = atMs >= latest.current.toMs
      if (!isStill) latest.current.onFrame?.(atMs)
      if (isOver || clockMs - toldMs >= (isStill ? STILL_EVERY_MS : TELL_EVERY_MS)) {
        toldMs = clockMs
        told.current = atMs
        base = { atMs, clockMs }
        latest.current.onAt(atMs)
      }
      if (isOver) {
        setPlaying(false)
        latest.current.onEnd?.()
        return
      }
      frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, speed])
  const toggle = useCallback(() => setPlaying((playing) => !playing), [])
  const pause = useCallback(() => setPlaying(false), [])
  useSpace(toggle)
  return { isPlaying, speed, setSpeed, toggle, pause }
}

/** The space bar plays and pauses, except where it has a meaning of its own. */
function useSpace(toggle: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== ' ' || event.repeat || !(event.target instanceof Element)) return
      if (event.target.closest('button, a, select, textarea, summary, dialog, input:not([type="range"])') !== null) return
      event.preventDefault()
      toggle()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [toggle])
}
