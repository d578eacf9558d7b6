import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeBatch, type PanelSnapshot, type Scope } from '@km0/contracts'
import { Server as SocketServer } from 'socket.io'
import { io, type Socket } from 'socket.io-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PanelEvent } from './panel-events.ts'
import { PanelHub, type PanelSockets } from './panel-hub.ts'
import { PanelState } from './panel-state.ts'

const NOW = 1_789_380_000_000
const OLOT: Scope = { kind: 'limited', depots: ['olot'], markets: [] }

let server: Server
let sockets: PanelSockets
let hub: PanelHub
let state: PanelState
const clients: Socket[] = []

let offset = 0
const point = (van: string, eventMs: number, lon = 2.8): PanelEvent => {
  offset += 1
  const value = {
    repartidor: van,
    lat: 42,
    lon,
    data_ms: eventMs,
    arribada_ms: eventMs,
    velocitat_mm_s: null,
    rumb_graus: 90,
    dubtos: false,
  }
  return { kind: 'point', source: { epoch: 1, partition: 0, offset }, value: { ...value, estat: 'en-moviment' } } as PanelEvent
}
const registered = (van: string, depotId: string) => ({ van, name: van, plate: null, depotId, inServiceFromMs: null, inServiceToMs: null })
const depot = (id: string) => ({ id, name: id, lat: 42, lon: 2.8, markets: [], shiftStart: null, shiftEnd: null })

beforeEach(async () => {
  state = new PanelState({ clock: 'machine', placeOf: () => null })
  state.apply({
    kind: 'register',
    depots: [depot('olot'), depot('girona')],
    registered: [registered('a', 'olot'), registered('b', 'girona')],
  } as PanelEvent)
  server = createServer()
  sockets = new SocketServer(server, { serveClient: false })
  sockets.use((socket, next) => {
    socket.data.scope = socket.handshake.query.limited === '1' ? OLOT : { kind: 'all' }
    next()
  })
  // Deltas are not what is tested: they come too late to disturb.
  hub = new PanelHub({ state, sockets, machineNowMs: () => NOW, tickMs: 3_600_000, batchMs: 20 })
  hub.start()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  hub.stop()
  await sockets.close()
})

async function connect(limited = false) {
  const { port } = server.address() as AddressInfo
  const client = io(`http://127.0.0.1:${port}`, { transports: ['websocket'], forceNew: true, query: limited ? { limited: '1' } : {} })
  clients.push(client)
  const batches: ReturnType<typeof decodeBatch>[] = []
  client.on('points', (wire: Uint8Array) => batches.push(decodeBatch(wire)))
  const snapshot = await new Promise<PanelSnapshot>((resolve) => client.once('snapshot', resolve))
  const slots = new Map(snapshot.points.map(({ van, slot }) => [slot, van]))
  const vans = () => batches.flatMap(({ points }) => points.map(({ slot, lon }) => [slots.get(slot), lon] as const))
  return { batches, vans }
}

describe('batches', () => {
  test('tell where vans have moved, by the slots of the snapshot, between two deltas', async () => {
    for (const van of ['a', 'b']) state.apply(point(van, NOW - 1_000))
    state.takeMoved()
    hub.loaded()
    const { batches, vans } = await connect()
    state.apply(point('b', NOW, 2.9))
    await expect.poll(vans).toEqual([['b', 2.9]])
    expect(batches.at(-1)).toMatchObject({
      nowMs: NOW,
      sentMs: NOW,
      points: [{ lat: 42, eventMs: NOW, motion: 'moving', doubtful: false }],
    })
    // A point that is no news is in no batch.
    state.apply(point('b', NOW - 500, 2.1))
    state.apply(point('a', NOW, 2.85))
    await expect.poll(vans).toEqual([
      ['b', 2.9],
      ['a', 2.85],
    ])
  })

  test('tell nobody of vans that they may not see', async () => {
    for (const van of ['a', 'b']) state.apply(point(van, NOW - 1_000))
    state.takeMoved()
    hub.loaded()
    const limited = await connect(true)
    const whole = await connect()
    state.apply(point('b', NOW, 2.9))
    state.apply(point('a', NOW, 2.85))
    await expect.poll(() => whole.vans().length).toBe(2)
    await expect.poll(limited.vans).toEqual([['a', 2.85]])
  })
})
