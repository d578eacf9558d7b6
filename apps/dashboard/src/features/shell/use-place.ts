'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import { type Place, readPlace, writePlace } from './place.ts'

export interface PlaceState {
  readonly place: Place
  /** Grows whenever the van is to be brought into view. */
  readonly focus: number
  /** Goes on to another place; Back undoes a choice of van or view. */
  readonly go: (change: Partial<Place>) => void
  readonly refocus: () => void
}

/** Where the panel is, kept in the address: a link opens the same, and Back works. */
export function usePlace(initial: Place): PlaceState {
  const [place, setPlace] = useState(initial)
  const [focus, setFocus] = useState(0)
  const current = useRef(initial)
  useEffect(() => {
    const follow = () => {
      current.current = { ...readPlace(window.location.search), camera: current.current.camera }
      setPlace(current.current)
      setFocus((count) => count + 1)
    }
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  const go = useCallback((change: Partial<Place>) => {
    const before = current.current
    const next = { ...before, ...change }
    current.current = next
    setPlace(next)
    if (change.van !== undefined) setFocus((count) => count + 1)
    const url = `${window.location.pathname}${writePlace(next, window.location.search)}`
    // A moved map or a switched layer is no step to go back over.
    if (next.van !== before.van || next.view !== before.view) window.history.pushState(null, '', url)
    else window.history.replaceState(null, '', url)
  }, [])
  const refocus = useCallback(() => setFocus((count) => count + 1), [])
  return { place, focus, go, refocus }
}
