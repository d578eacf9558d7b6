'use client'

import { useCallback, useEffect, useRef, useState } from 'react'

/** Browsers let a page change its address only so often. */
const ADDRESS_AFTER_MS = 400

/** A place of a page that stands in its address too, a moment after it has come to rest; the browser's way back leads to what it says then. */
export function usePlaceState<Place>(
  initial: Place,
  addressOf: (place: Place) => string,
  placeOf: (given: Readonly<Record<string, string>>) => Place,
): readonly [Place, (place: Place) => void] {
  const [place, setPlace] = useState(initial)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const read = useRef(placeOf)
  const write = useRef(addressOf)
  useEffect(() => {
    const back = () => setPlace(read.current(Object.fromEntries(new URLSearchParams(window.location.search))))
    window.addEventListener('popstate', back)
    return () => {
      window.removeEventListener('popstate', back)
      clearTimeout(timer.current)
    }
  }, [])
  const go = useCallback((next: Place) => {
    setPlace(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => window.history.replaceState(null, '', write.current(next)), ADDRESS_AFTER_MS)
  }, [])
  return [place, go]
}
