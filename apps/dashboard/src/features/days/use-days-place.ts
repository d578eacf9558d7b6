'use client'

import { useCallback, useState } from 'react'
import type { DaysPlace } from './days-place.ts'

export function useDaysPlace(initial: DaysPlace): readonly [DaysPlace, (place: DaysPlace) => void] {
  const [place, setPlace] = useState(initial)
  const go = useCallback((next: DaysPlace) => {
    const query = new URLSearchParams()
    if (next.last !== null) query.set('fins', next.last)
    if (next.van !== null && next.day !== null) {
      query.set('furgo', next.van)
      query.set('dia', next.day)
    }
    const text = query.toString()
    window.history.replaceState(null, '', text === '' ? window.location.pathname : `?${text}`)
    setPlace(next)
  }, [])
  return [place, go]
}
