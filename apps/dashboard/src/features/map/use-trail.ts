'use client'

import type { PanelPoint, TrailPoint, TrailView } from '@km0/contracts/panel'
import { useEffect, useState } from 'react'
import { extendTrail } from './prepare-trail.ts'

const NONE: readonly TrailPoint[] = []

/** The last 15 minutes of a van: asked for once when it is selected, then made longer by its newest points. */
export function useTrail(van: string | null, point: PanelPoint | null): readonly TrailPoint[] {
  const [trail, setTrail] = useState<TrailView | null>(null)
  useEffect(() => {
    setTrail(null)
    if (van === null) return
    const abort = new AbortController()
    fetch(`/api/trail?van=${encodeURIComponent(van)}`, { signal: abort.signal })
      .then(async (response) => {
        if (response.ok) setTrail((await response.json()) as TrailView)
      })
      // Without a trail the map still shows where the van is.
      .catch(() => undefined)
    return () => abort.abort()
  }, [van])
  useEffect(() => {
    if (point === null) return
    setTrail((known) => (known === null || known.van !== point.van ? known : extendTrail(known, point)))
  }, [point])
  return trail?.van === van ? (trail?.points ?? NONE) : NONE
}
