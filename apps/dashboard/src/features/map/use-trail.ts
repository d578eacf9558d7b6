'use client'

import type { PanelPoint, TrailPoint, TrailView } from '@km0/contracts/panel'
import { useEffect, useRef, useState } from 'react'
import { extendTrail } from './prepare-trail.ts'

const NONE: readonly TrailPoint[] = []
/** A step longer than this may be one of ours: a line that was cut, a tab that slept. The server knows what was between. */
const ASK_AGAIN_AFTER_MS = 15_000

/** The last 15 minutes of a van: asked for when it is selected, made longer by its newest points, and asked for again after a long step. */
export function useTrail(van: string | null, point: PanelPoint | null): readonly TrailPoint[] {
  const [trail, setTrail] = useState<TrailView | null>(null)
  const [asked, setAsked] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked for again
  useEffect(() => {
    if (van === null) return
    const abort = new AbortController()
    fetch(`/api/trail?van=${encodeURIComponent(van)}`, { signal: abort.signal })
      .then(async (response) => {
        if (response.ok) setTrail((await response.json()) as TrailView)
      })
      // Without a trail the map still shows where the van is.
      .catch(() => undefined)
    return () => abort.abort()
  }, [van, asked])
  const known = useRef(trail)
  known.current = trail
  useEffect(() => {
    const before = known.current
    if (point === null || before === null || before.van !== point.van) return
    const lastMs = before.points.at(-1)?.[2] ?? point.eventMs
    if (point.eventMs - lastMs > ASK_AGAIN_AFTER_MS) setAsked((count) => count + 1)
    setTrail(extendTrail(before, point))
  }, [point])
  return trail?.van === van ? (trail?.points ?? NONE) : NONE
}
