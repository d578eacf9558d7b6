import { createRequire } from 'node:module'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type MqttDelivery, type MqttInput, openMqttInput } from './mqtt-input.ts'

const CONNECT = 1
const PUBACK = 4
const SUBSCRIBE = 8
const PINGREQ = 12
const DISCONNECT = 14

/** A broker of a few bytes: the test says what it sends and sees every packet it gets. */
class FakeBroker {
  readonly packets: { readonly type: number; readonly body: Buffer }[] = []
  readonly #server: Server
  #socket: Socket | undefined
  sessionPresent = false
  grantedQos = 1
  port = 0

  constructor() {
    this.#server = createServer((socket) => {
      this.#socket = socket
      let pending = Buffer.alloc(0)
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        pending = Buffer.concat([pending, chunk])
        // Packets of a client under test are shorter than 128 bytes: one byte of length.
        while (pending.length >= 2 && pending.length >= 2 + pending[1]!) {
          const end = 2 + pending[1]!
          this.#onPacket(pending[0]! >> 4, pending.subarray(2, end), socket)
          pending = pending.subarray(end)
        }
      })
    })
  }

  #onPacket(type: number, body: Buffer, socket: Socket): void {
    this.packets.push({ type, body })
    if (type === CONNECT) socket.write(Buffer.from([0x20, 2, this.sessionPresent ? 1 : 0, 0]))
    if (type === SUBSCRIBE) socket.write(Buffer.from([0x90, 3, body[0]!, body[1]!, this.grantedQos]))
    if (type === PINGREQ) socket.write(Buffer.from([0xd0, 0]))
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.port = (this.#server.address() as { port: number }).port
  }

  publish(messageId: number, payload: string, { retain = false, topic = 'a/b' } = {}): void {
    const name = Buffer.from(topic)
    const rest = Buffer.concat([Buffer.from([0, name.length]), name, Buffer.from([messageId >> 8, messageId & 255]), Buffer.from(payload)])
    this.#socket?.write(Buffer.concat([Buffer.from([0x32 | (retain ? 1 : 0), rest.length]), rest]))
  }

  write(bytes: number[]): void {
    this.#socket?.write(Buffer.from(bytes))
  }

  cut(): void {
    this.#socket?.destroy()
  }

  count(type: number): number {
    return this.packets.filter((packet) => packet.type === type).length
  }

  acknowledgedIds(): number[] {
    return this.packets.filter((packet) => packet.type === PUBACK).map((packet) => packet.body.readUInt16BE(0))
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function until(what: string, condition: () => boolean, timeoutMs = 5_000): Promise<void> {
  const endMs = Date.now() + timeoutMs
  while (!condition()) {
    if (Date.now() > endMs) throw new Error(`timed out waiting until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('deferred acknowledgement on mqtt.js', () => {
  let broker: FakeBroker
  let input: MqttInput
  let deliveries: MqttDelivery[]
  let connections: boolean[]
  let errors: Error[]
  let verdict: 'more' | 'hold'
  let mayConnect: boolean
  let waitMs: number | undefined

  function open(keepaliveSeconds = 30): void {
    input = openMqttInput(
      {
        url: `mqtt://127.0.0.1:${broker.port}`,
        clientId: 'pont',
        filters: ['a/+'],
        keepaliveSeconds,
        connectTimeoutMs: 1_000,
        reconnectMinMs: 20,
        reconnectMaxMs: 100,
        mayConnect: () => mayConnect,
      },
      {
        onDelivery: (delivery) => {
          deliveries.push(delivery)
          return verdict
        },
        onConnected: (sessionPresent) => connections.push(sessionPresent),
        onDisconnected: () => waitMs,
        onSubscribed: () => undefined,
        onError: (error) => errors.push(error),
      },
    )
  }

  beforeEach(async () => {
    broker = new FakeBroker()
    await broker.listen()
    deliveries = []
    connections = []
    errors = []
    verdict = 'more'
    mayConnect = true
    waitMs = undefined
  })
  afterEach(async () => {
    await input.close(500)
    await broker.close()
  })

  it('is pinned to the release whose private call it uses', () => {
    open()
    const { version } = createRequire(import.meta.url)('mqtt/package.json') as { version: string }
    expect(version).toBe('5.16.0')
  })

  it('sends no PUBACK before acknowledge(), then one, with the id of the message (B33)', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    broker.publish(7, 'one')
    broker.publish(8, 'two')
    await until('both delivered', () => deliveries.length === 2)
    await pause(50)
    expect(broker.acknowledgedIds()).toEqual([])
    expect(deliveries[0]?.acknowledge()).toBe(true)
    expect(deliveries[1]?.acknowledge()).toBe(true)
    await until('acknowledged', () => broker.acknowledgedIds().length === 2)
    expect(broker.acknowledgedIds()).toEqual([7, 8])
  })

  it('never acknowledges on another connection than the one that delivered', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    broker.publish(7, 'one')
    await until('delivered', () => deliveries.length === 1)
    broker.sessionPresent = true
    broker.cut()
    await until('back', () => connections.length === 2 && input.connected())
    expect(deliveries[0]?.acknowledge()).toBe(false)
    broker.publish(7, 'another message, the id again')
    await until('delivered', () => deliveries.length === 2)
    expect(deliveries.map(({ connection }) => connection)).toEqual([1, 2])
    await pause(50)
    expect(broker.acknowledgedIds()).toEqual([])
    expect(deliveries[1]?.acknowledge()).toBe(true)
    await until('acknowledged', () => broker.acknowledgedIds().length === 1)
  })

  it('subscribes again when the session is gone, and not when it is there (B38)', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    expect(broker.count(SUBSCRIBE)).toBe(1)
    broker.sessionPresent = true
    broker.cut()
    await until('second connection', () => connections.length === 2 && input.subscribed())
    expect(broker.count(SUBSCRIBE)).toBe(1)
    broker.sessionPresent = false
    broker.cut()
    await until('third connection', () => connections.length === 3 && input.subscribed())
    expect(broker.count(SUBSCRIBE)).toBe(2)
    expect(connections).toEqual([false, true, false])
  })

  it('does not connect again while it may not, and does when it may', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    mayConnect = false
    broker.cut()
    await pause(400)
    expect(broker.count(CONNECT)).toBe(1)
    mayConnect = true
    await until('connected again', () => input.subscribed())
    expect(broker.count(CONNECT)).toBe(2)
  })

  it('waits as long as it is told before the next connection', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    waitMs = 600
    broker.cut()
    await pause(350)
    expect(broker.count(CONNECT)).toBe(1)
    await until('connected again', () => input.subscribed())
  })

  it('renews: subscribes on a new connection although the session is there (B39)', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    broker.sessionPresent = true
    input.renew()
    await until('subscribed again', () => broker.count(SUBSCRIBE) === 2 && input.subscribed())
    expect(connections).toEqual([false, true])
  })

  it('says that the broker refuses a subscription, and tries again', async () => {
    broker.grantedQos = 128
    open()
    await until('refused', () => errors.length > 0)
    expect(errors[0]?.message).toContain('a/+')
    broker.grantedQos = 1
    await until('granted', () => input.subscribed())
  })

  it('holds the next message while there is no room, and keeps the connection alive meanwhile', async () => {
    open(1)
    await until('subscribed', () => input.subscribed())
    verdict = 'hold'
    broker.publish(1, 'fills the queue')
    await until('held', () => input.held())
    broker.publish(2, 'waits')
    // Two and a half times the keepalive: without pings of our own the client would have given up.
    await pause(2_500)
    expect(deliveries).toHaveLength(1)
    expect(connections).toHaveLength(1)
    expect(broker.count(PINGREQ)).toBeGreaterThanOrEqual(4)
    verdict = 'more'
    input.release()
    await until('the second came', () => deliveries.length === 2)
    expect(connections).toHaveLength(1)
    expect(deliveries[0]?.acknowledge()).toBe(true)
  })

  it('lets go of a held message when its connection dies', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    verdict = 'hold'
    broker.publish(1, 'fills the queue')
    await until('held', () => input.held())
    broker.cut()
    await until('back', () => connections.length === 2)
    expect(input.held()).toBe(false)
  })

  it('hands retained copies on as such', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    broker.publish(1, 'old', { retain: true })
    broker.publish(2, 'new')
    await until('delivered', () => deliveries.length === 2)
    expect(deliveries.map((delivery) => delivery.retain)).toEqual([true, false])
  })

  it('connects anew when the broker sends rubbish', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    broker.write([0xf5, 0x7f, 0xff, 0xff, 0xff, 0xff])
    await until('a fresh connection', () => connections.length === 2)
    expect(errors.length).toBeGreaterThan(0)
  })

  it('gives up a connection that answers nothing (B39)', async () => {
    const silent = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        connections.push(true)
        socket.write(Buffer.from([0x20, 2, 1, 0]))
      })
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const real = broker.port
    broker.port = (silent.address() as { port: number }).port
    open(1)
    broker.port = real
    // onConnected and the server itself each count: three connections are more than four entries.
    await until('a second connection', () => connections.length >= 4, 5_000)
    await input.close(100)
    await new Promise((resolve) => silent.close(resolve))
  })

  it('takes nothing after stopTaking, still acknowledges, and leaves with DISCONNECT', async () => {
    open()
    await until('subscribed', () => input.subscribed())
    broker.publish(1, 'taken')
    await until('delivered', () => deliveries.length === 1)
    input.stopTaking()
    broker.publish(2, 'not taken')
    await pause(50)
    expect(deliveries).toHaveLength(1)
    deliveries[0]?.acknowledge()
    await input.close(500)
    await until('disconnect seen', () => broker.count(DISCONNECT) === 1)
    expect(broker.acknowledgedIds()).toEqual([1])
  })
})
