'use client'

import { type RefObject, useEffect, useRef, useState } from 'react'
import type { BatchFeed } from '../feed/batch-feed.ts'
import type { Camera } from '../shell/place.ts'
import type { Theme } from '../shell/theme.ts'
import { FleetMap, type FleetMapOptions } from './fleet-map.ts'
import type { OwnMap } from './own-map.ts'

export type MapStatus = 'loading' | 'ready' | 'failed'

interface Given extends Pick<FleetMapOptions, 'onSelect' | 'onCamera' | 'onFollowEnd' | 'texts'> {
  readonly theme: Theme
  readonly own: OwnMap
  readonly camera: Camera | null
  readonly batches: BatchFeed
}

/** One map for as long as the element is there, fed with moves as they come. `map` is null before it is made, and where it cannot be drawn. */
export function useFleetMap(container: RefObject<HTMLDivElement | null>, given: Given) {
  const map = useRef<FleetMap | null>(null)
  const [status, setStatus] = useState<MapStatus>('loading')
  const first = useRef(given)
  const newest = useRef(given)
  newest.current = given
  const { own, batches } = given
  const { styleUrl, tilesUrl, attribution } = own
  useEffect(() => {
    if (container.current === null) return
    const { theme, camera, texts } = first.current
    let made: FleetMap
    try {
      made = new FleetMap({
        container: container.current,
        theme,
        own: { styleUrl, tilesUrl, attribution },
        camera,
        texts,
        onSelect: (van) => newest.current.onSelect(van),
        onCamera: (view) => newest.current.onCamera(view),
        onFollowEnd: () => newest.current.onFollowEnd(),
        onReady: () => setStatus('ready'),
        onFailed: () => setStatus('failed'),
      })
    } catch (error) {
      // No WebGL: the lists work all the same.
      console.error(error)
      setStatus('failed')
      return
    }
    map.current = made
    const watcher = new ResizeObserver(() => made.resize())
    watcher.observe(container.current)
    const quiet = batches.listen({ moved: (moves, sentMs) => made.moveVans(moves, sentMs), forget: () => made.forgetMoves() })
    return () => {
      quiet()
      watcher.disconnect()
      map.current = null
      made.remove()
    }
  }, [container, styleUrl, tilesUrl, attribution, batches])
  return { map, status }
}
