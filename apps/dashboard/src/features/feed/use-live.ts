'use client'

import { decodeDelta, decodeSnapshot } from '@km0/contracts/panel-wire'
import { useEffect, useState } from 'react'
import { BatchFeed } from './batch-feed.ts'
import { type Connection, followLine, openLine } from './live-line.ts'
import { applyDelta, modelOf, type PanelModel } from './panel-model.ts'

export type { Connection } from './live-line.ts'

export interface Live {
  /** null until the first snapshot. */
  readonly model: PanelModel | null
  readonly connection: Connection
  /** Where vans have moved between two deltas. The same for as long as the page is open. */
  readonly batches: BatchFeed
}

/** The panel's live data: one socket for as long as the page is open. */
export function useLive(): Live {
  const [batches] = useState(() => new BatchFeed())
  const [live, setLive] = useState<Omit<Live, 'batches'>>({ model: null, connection: 'connecting' })
  useEffect(() => {
    const socket = openLine()
    // Before the snapshot of this connection nobody knows whose slots these are.
    let known = false
    socket.on('disconnect', () => {
      known = false
    })
    socket.on('points', (wire: ArrayBuffer | Uint8Array) => {
      if (known) batches.give(wire)
    })
    return followLine<PanelModel>({
      socket,
      modelOf: (wire) => {
        const model = modelOf(decodeSnapshot(wire), Date.now())
        batches.begin(model.points)
        known = true
        return model
      },
      apply: (model, wire) => {
        const next = applyDelta(model, decodeDelta(wire), Date.now())
        if (next !== null) batches.learn(next.points)
        return next
      },
      onChange: (model, connection) => setLive({ model, connection }),
    })
  }, [batches])
  return { ...live, batches }
}
