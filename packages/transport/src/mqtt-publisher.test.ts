import { createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { openMqttPublisher } from './mqtt-publisher.ts'

const CONNECT = 1
const PUBLISH = 3

/** Payload and id of a QoS 1 message of fewer than 128 bytes. */
function messageOf(body: Buffer): { readonly id: number; readonly payload: string } {
  const end = 2 + body.readUInt16BE(0)
  return { id: body.readUInt16BE(end), payload: body.toString('utf8', end + 2) }
}

it('publishes what a connection took no more because it ended while older messages were being repeated', async () => {
  const got: string[] = []
  let connections = 0
  let acknowledging = false
  const onPublish: ((payload: string, socket: Socket) => void)[] = []
  const server = createServer((socket) => {
    let pending = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending[1]!) {
        const [type, body] = [pending[0]! >> 4, pending.subarray(2, 2 + pending[1]!)]
        pending = pending.subarray(2 + pending[1]!)
        if (type === CONNECT) {
          connections += 1
          socket.write(Buffer.from([0x20, 2, 0, 0]))
        } else if (type === PUBLISH) {
          const { id, payload } = messageOf(body)
          if (acknowledging) {
            got.push(payload)
            socket.write(Buffer.from([0x40, 2, id >> 8, id & 255]))
          }
          for (const listener of onPublish) listener(payload, socket)
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const publisher = openMqttPublisher({ url: `mqtt://127.0.0.1:${port}`, onError: () => undefined })
  const published: Promise<void>[] = []
  onPublish.push((payload, socket) => {
    if (connections === 1 && payload === 'first') socket.destroy()
    // The first one is being repeated and is not acknowledged; what is published now waits for it.
    if (connections === 2 && payload === 'first' && published.length === 1) {
      published.push(publisher.publish('a', 'second'), publisher.publish('a', 'third'))
      acknowledging = true
      setImmediate(() => socket.destroy())
    }
  })
  published.push(publisher.publish('a', 'first'))
  await new Promise<void>((resolve) => {
    onPublish.push(() => {
      if (got.length >= 3) resolve()
    })
  })
  await Promise.all(published)
  expect(published).toHaveLength(3)
  expect(got).toEqual(['first', 'second', 'third'])
  await publisher.close(true)
  server.close()
}, 20_000)
