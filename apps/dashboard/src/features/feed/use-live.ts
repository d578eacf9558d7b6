'use client'

import type { PanelToServer, ServerToPanel } from '@km0/contracts/panel'
import { decodeDelta, decodeSnapshot } from '@km0/contracts/panel-wire'
import { useEffect, useState } from 'react'
import { io, type Socket } from 'socket.io-client'
import { applyDelta, modelOf, type PanelModel } from './panel-model.ts'

/** `connecting`: not yet; `failed`: not yet, and it has been tried for a while; `lost`: was there. */
export type Connection = 'connecting' | 'failed' | 'connected' | 'lost'

export interface Live {
  /** null until the first snapshot. */
  readonly model: PanelModel | null
  readonly connection: Connection
}

/** A first connection that takes longer is worth a word. */
const FAILED_AFTER_MS = 6_000
const RECONNECT_MS = 500

/** The panel's live data: one socket for as long as the page is open. */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({ model: null, connection: 'connecting' })
  useEffect(() => {
    let model: PanelModel | null = null
    let resyncing = false
    const set = (connection: Connection) => setLive({ model, connection })
    const socket: Socket<ServerToPanel, PanelToServer> = io({
      transports: ['websocket', 'polling'],
      reconnectionDelay: RECONNECT_MS,
      reconnectionDelayMax: 2_000,
      timeout: 5_000,
    })
    const failed = setTimeout(() => {
      if (model === null) set('failed')
    }, FAILED_AFTER_MS)
    socket.on('snapshot', (wire) => {
      model = modelOf(decodeSnapshot(wire), Date.now())
      resyncing = false
      set('connected')
    })
    socket.on('delta', (wire) => {
      // Before the snapshot of this connection a delta has nothing to change.
      if (model === null || resyncing) return
      const next = applyDelta(model, decodeDelta(wire), Date.now())
      if (next === null) {
        resyncing = true
        socket.emit('resync')
        return
      }
      model = next
      set('connected')
    })
    let again: ReturnType<typeof setTimeout> | undefined
    socket.on('disconnect', (reason) => {
      // The one case in which the client would not come back by itself.
      if (reason === 'io server disconnect') again = setTimeout(() => socket.connect(), RECONNECT_MS)
      // The sequence may begin anew when the server comes back: only its snapshot counts.
      resyncing = true
      set(model === null ? 'connecting' : 'lost')
    })
    return () => {
      clearTimeout(failed)
      clearTimeout(again)
      socket.disconnect()
    }
  }, [])
  return live
}
