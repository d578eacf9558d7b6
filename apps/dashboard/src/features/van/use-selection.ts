'use client'

import { useCallback, useEffect, useState } from 'react'

export interface Selection {
  readonly van: string | null
  /** Grows whenever the van is to be brought into view. */
  readonly focus: number
  readonly select: (van: string | null) => void
  readonly refocus: () => void
}

/** The selected van, kept in the address (`?van=furgoneta-3`), so that a link opens the same view and Back undoes a choice. */
export function useSelection(initial: string | null): Selection {
  const [van, setVan] = useState(initial)
  const [focus, setFocus] = useState(0)
  useEffect(() => {
    const follow = () => setVan(new URL(window.location.href).searchParams.get('van'))
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  const select = useCallback((next: string | null) => {
    setVan(next)
    setFocus((count) => count + 1)
    const url = new URL(window.location.href)
    if (url.searchParams.get('van') === next) return
    if (next === null) url.searchParams.delete('van')
    else url.searchParams.set('van', next)
    window.history.pushState(null, '', url)
  }, [])
  const refocus = useCallback(() => setFocus((count) => count + 1), [])
  return { van, focus, select, refocus }
}
