'use client'

import { useTranslations } from 'next-intl'
import { type RefObject, useEffect, useRef, useState } from 'react'
import type { OwnMap } from '../map/own-map.ts'
import type { Theme } from '../shell/theme.ts'
import { PlaceMap } from './place-map.ts'

export interface PlaceMapHandle {
  readonly container: RefObject<HTMLDivElement | null>
  /** null until it is made, and where the browser draws no maps. */
  readonly map: PlaceMap | null
  readonly status: 'loading' | 'ready' | 'failed'
}

/** One map for as long as the element is there. */
export function usePlaceMap(theme: Theme, own: OwnMap, onPick: (van: string | null) => void): PlaceMapHandle {
  const t = useTranslations('map')
  const container = useRef<HTMLDivElement>(null)
  const [map, setMap] = useState<PlaceMap | null>(null)
  const [status, setStatus] = useState<PlaceMapHandle['status']>('loading')
  const picked = useRef(onPick)
  picked.current = onPick
  const firstTheme = useRef(theme)
  const { styleUrl, tilesUrl, attribution } = own
  const texts = useRef({ zoomIn: t('zoomIn'), zoomOut: t('zoomOut'), map: t('title') })
  useEffect(() => {
    if (container.current === null) return
    let made: PlaceMap
    try {
      made = new PlaceMap({
        container: container.current,
        theme: firstTheme.current,
        own: { styleUrl, tilesUrl, attribution },
        texts: texts.current,
        onPick: (van) => picked.current(van),
        onReady: () => setStatus('ready'),
        onFailed: () => setStatus('failed'),
      })
    } catch (error) {
      // No WebGL: timeline and lists work all the same.
      console.error(error)
      setStatus('failed')
      return
    }
    setMap(made)
    const watcher = new ResizeObserver(() => made.resize())
    watcher.observe(container.current)
    return () => {
      watcher.disconnect()
      setMap(null)
      made.remove()
    }
  }, [styleUrl, tilesUrl, attribution])
  useEffect(() => map?.setTheme(theme), [map, theme])
  return { container, map, status }
}
