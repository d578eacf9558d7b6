'use client'

import { useCallback, useEffect, useState } from 'react'
import { addressOf, type BackfillsPlace, backfillsPlaceOf } from './backfills-place.ts'

/** The place and how to go elsewhere; the browser's way back works. */
export function useBackfillsPlace(initial: BackfillsPlace): readonly [BackfillsPlace, (place: BackfillsPlace) => void] {
  const [place, setPlace] = useState(initial)
  useEffect(() => {
    const back = () => setPlace(backfillsPlaceOf(Object.fromEntries(new URLSearchParams(window.location.search))))
    window.addEventListener('popstate', back)
    return () => window.removeEventListener('popstate', back)
  }, [])
  const go = useCallback((next: BackfillsPlace) => {
    window.history.pushState(null, '', addressOf(next))
    setPlace(next)
  }, [])
  return [place, go]
}
