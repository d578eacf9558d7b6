import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Broker, type BrokerOptions, startBroker } from '@km0/infra/embedded/broker'
import { findMosquitto, startMosquitto } from '@km0/infra/embedded/mosquitto'
import mqtt, { type MqttClient } from 'mqtt'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'km0-broker-'))
const started: Broker[] = []
const clients: MqttClient[] = []
let count = 0

async function start(options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const broker = await startBroker({ dataDir: join(folder, String(++count)), ...options })
  started.push(broker)
  return broker
}

async function restart(broker: Broker): Promise<Broker> {
  const again = await broker.restart()
  started.push(again)
  return again
}

async function connect(broker: Broker, clientId: string, options: mqtt.IClientOptions = {}): Promise<MqttClient> {
  const client = await mqtt.connectAsync(broker.url, { clientId, clean: false, reconnectPeriod: 0, ...options })
  client.on('error', () => {})
  clients.push(client)
  return client
}

/** Connects a session and collects the payloads that come, from the first on. */
async function listen(broker: Broker, clientId: string, options: mqtt.IClientOptions = {}): Promise<{ client: MqttClient; got: string[] }> {
  const got: string[] = []
  const client = mqtt.connect(broker.url, { clientId, clean: false, reconnectPeriod: 0, ...options })
  clients.push(client)
  client.on('error', () => {})
  client.on('message', (_topic, payload) => got.push(payload.toString()))
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve())
    client.once('error', reject)
  })
  return { client, got }
}

async function subscribeAndLeave(broker: Broker, clientId: string, filter = 'km0/#'): Promise<void> {
  const client = await connect(broker, clientId)
  await client.subscribeAsync(filter, { qos: 1 })
  await client.endAsync()
}

async function until(condition: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error(`not in ${timeoutMs} ms: ${what}`)
    await sleep(20)
  }
}

const numbers = (n: number, from = 0) => Array.from({ length: n }, (_, index) => String(from + index))

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)))
  await Promise.all(started.splice(0).map((broker) => broker.stop()))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a session that outlives its connection', () => {
  for (const end of ['stop', 'kill9'] as const) {
    it(`finds its messages, in order, after ${end} of the broker`, async () => {
      let broker = await start()
      await subscribeAndLeave(broker, 'pont')
      for (const from of [0, 300]) {
        const van = await connect(broker, 'furgoneta')
        await Promise.all(numbers(300, from).map((payload) => van.publishAsync('km0/p', payload, { qos: 1 })))
        await van.endAsync()
        await broker[end]()
        broker = await restart(broker)
      }
      const { got } = await listen(broker, 'pont')
      await until(() => got.length >= 600, '600 messages')
      expect(got).toEqual(numbers(600))
    })
  }

  it('gets again, in order and before newer ones, what it had not acknowledged when the broker was killed', async () => {
    const broker = await start()
    await subscribeAndLeave(broker, 'pont')
    const van = await connect(broker, 'furgoneta')
    await Promise.all(numbers(50).map((payload) => van.publishAsync('km0/p', payload, { qos: 1 })))
    const seen: string[] = []
    // Set before the connection stands: what was parked may come in one packet with its CONNACK.
    const first = mqtt.connect(broker.url, { clientId: 'pont', clean: false, reconnectPeriod: 0 })
    first.on('error', () => {})
    clients.push(first)
    first.handleMessage = (packet, callback) => {
      seen.push(packet.payload.toString())
      // The first twenty are acknowledged, the 21st holds the rest.
      if (seen.length <= 20) callback()
    }
    await until(() => seen.length === 21, 'the 21st message')
    await sleep(200)
    await broker.kill9()
    const again = await restart(broker)
    const second = await connect(again, 'furgoneta')
    await Promise.all(numbers(50, 50).map((payload) => second.publishAsync('km0/p', payload, { qos: 1 })))
    const { got } = await listen(again, 'pont')
    await until(() => got.at(-1) === '99', 'the last message')
    // At least what had no PUBACK, once more, and then everything after it, in order.
    expect(got).toEqual(numbers(got.length, 100 - got.length))
    expect(got.length).toBeGreaterThanOrEqual(80)
  })

  it('has every message of which the publisher saw the PUBACK when the broker was killed in between', async () => {
    const broker = await start()
    await subscribeAndLeave(broker, 'pont')
    const van = await connect(broker, 'furgoneta')
    const acknowledged: string[] = []
    for (const payload of numbers(20_000)) {
      van.publish('km0/p', payload, { qos: 1 }, (error) => {
        if (!error) acknowledged.push(payload)
      })
    }
    await until(() => acknowledged.length > 500, '500 acknowledgements')
    await broker.kill9()
    await van.endAsync(true)
    const sure = new Set(acknowledged)
    const again = await restart(broker)
    const { got } = await listen(again, 'pont')
    await until(() => got.length >= sure.size, 'all acknowledged')
    await sleep(500)
    const received = new Set(got)
    expect([...sure].filter((payload) => !received.has(payload))).toEqual([])
  })

  it('keeps others going while it does not read, and then gets all of it in order', async () => {
    const broker = await start()
    const slow = await connect(broker, 'pont')
    const got: string[] = []
    const held: (() => void)[] = []
    slow.handleMessage = (packet, callback) => {
      got.push(packet.payload.toString())
      if (held.length === 0) held.push(() => callback())
      else callback()
    }
    await slow.subscribeAsync('km0/#', { qos: 1 })
    const van = await connect(broker, 'furgoneta')
    const filler = 'x'.repeat(500)
    // 30 MB: more than the window and all socket buffers hold.
    const many = numbers(60_000)
    await Promise.all(many.map((payload) => van.publishAsync('km0/p', `${payload} ${filler}`, { qos: 1 })))
    held[0]?.()
    await until(() => got.length >= many.length, 'all messages', 60_000)
    expect(got.map((text) => text.split(' ')[0])).toEqual(many)
  })

  it('keeps no more than its limit and says how many it dropped', async () => {
    const broker = await start({ maxQueuedMessages: 100 })
    await subscribeAndLeave(broker, 'pont')
    const van = await connect(broker, 'furgoneta')
    await Promise.all(numbers(150).map((payload) => van.publishAsync('km0/p', payload, { qos: 1 })))
    const { got } = await listen(broker, 'pont')
    await until(() => got.length >= 100, 'what was kept')
    await sleep(200)
    expect(got).toEqual(numbers(100))
  })

  it('is forgotten when it comes back clean', async () => {
    const broker = await start()
    await subscribeAndLeave(broker, 'pont')
    const van = await connect(broker, 'furgoneta')
    await van.publishAsync('km0/p', 'vell', { qos: 1 })
    await (await connect(broker, 'pont', { clean: true })).endAsync()
    await broker.stop()
    const { client, got } = await listen(await restart(broker), 'pont')
    await client.subscribeAsync('km0/#', { qos: 1 })
    await client.publishAsync('km0/p', 'nou', { qos: 1 })
    await until(() => got.length > 0, 'the new message')
    expect(got).toEqual(['nou'])
  })

  it('gets a QoS 2 message once', async () => {
    const broker = await start()
    const { client, got } = await listen(broker, 'pont')
    await client.subscribeAsync('km0/#', { qos: 2 })
    const van = await connect(broker, 'furgoneta')
    await Promise.all(numbers(50).map((payload) => van.publishAsync('km0/p', payload, { qos: 2 })))
    await until(() => got.length >= 50, '50 messages')
    await sleep(200)
    expect(got).toEqual(numbers(50))
  })
})

it('keeps retained messages over kill -9, and forgets one that was emptied', async () => {
  const broker = await start()
  const van = await connect(broker, 'furgoneta')
  await van.publishAsync('km0/a', 'queda', { qos: 1, retain: true })
  await van.publishAsync('km0/b', 'marxa', { qos: 1, retain: true })
  await van.publishAsync('km0/b', '', { qos: 1, retain: true })
  await broker.kill9()
  const { client, got } = await listen(await restart(broker), 'nou', { clean: true })
  await client.subscribeAsync('km0/#', { qos: 1 })
  await until(() => got.length > 0, 'the retained message')
  await sleep(200)
  expect(got).toEqual(['queda'])
})

it('lets a 2 MB message pass between two good ones and hangs up on one above the limit', async () => {
  const broker = await start({ maxPacketBytes: 3_000_000 })
  const { client, got } = await listen(broker, 'pont')
  await client.subscribeAsync('km0/#', { qos: 1 })
  const van = await connect(broker, 'furgoneta')
  for (const payload of ['abans', 'x'.repeat(2_000_000), 'després']) await van.publishAsync('km0/p', payload, { qos: 1 })
  await until(() => got.length >= 3, 'three messages')
  expect(got.map((text) => text.length)).toEqual([5, 2_000_000, 7])
  const closed = new Promise<void>((resolve) => van.once('close', () => resolve()))
  van.publish('km0/p', 'x'.repeat(4_000_000), { qos: 1 })
  await closed
  expect(got.length).toBe(3)
})

it('asks for name and password when they are set', async () => {
  const broker = await start({ username: 'flota', password: 'secret' })
  await expect(mqtt.connectAsync(broker.url, { reconnectPeriod: 0, username: 'flota', password: 'wrong' })).rejects.toThrow()
  await expect(mqtt.connectAsync(broker.url, { reconnectPeriod: 0 })).rejects.toThrow()
  const client = await connect(broker, 'furgoneta', { username: 'flota', password: 'secret' })
  expect(client.connected).toBe(true)
})

it('carries 20,000 QoS 1 messages from ten publishers to one session, each publisher in order', async () => {
  const broker = await start()
  const { client, got } = await listen(broker, 'pont')
  await client.subscribeAsync('km0/#', { qos: 1 })
  const vans = await Promise.all(numbers(10).map((id) => connect(broker, `furgoneta-${id}`, { clean: true })))
  const startedMs = performance.now()
  await Promise.all(vans.map((van, id) => Promise.all(numbers(2_000).map((n) => van.publishAsync(`km0/${id}`, `${id} ${n}`, { qos: 1 })))))
  await until(() => got.length >= 20_000, '20,000 messages', 60_000)
  const elapsedMs = performance.now() - startedMs
  console.log(`broker: 20,000 messages in ${Math.round(elapsedMs)} ms, ${Math.round(20_000_000 / elapsedMs)} a second`)
  for (const id of numbers(10)) {
    expect(got.filter((text) => text.startsWith(`${id} `)).map((text) => text.split(' ')[1])).toEqual(numbers(2_000))
  }
})

const mosquitto = findMosquitto(process.env)
if (mosquitto === null) console.log('skipped: mosquitto in place of the embedded broker, as there is none on this machine')

describe.skipIf(mosquitto === null)('mosquitto in its place (KM0_BROKER=mosquitto)', () => {
  it('keeps sessions, and more messages than its own default, over SIGTERM', async () => {
    let broker = await startMosquitto({ dataDir: join(folder, String(++count)) })
    started.push(broker)
    await subscribeAndLeave(broker, 'pont')
    const van = await connect(broker, 'furgoneta')
    await Promise.all(numbers(1_500).map((payload) => van.publishAsync('km0/p', payload, { qos: 1 })))
    await van.endAsync()
    await broker.stop()
    broker = await restart(broker)
    const { got } = await listen(broker, 'pont')
    await until(() => got.length >= 1_500, 'all messages')
    expect(got).toEqual(numbers(1_500))
  })

  it('loses by kill -9 nothing but what it acknowledged since its last save', async () => {
    const dataDir = join(folder, String(++count))
    let broker = await startMosquitto({ dataDir, autosaveSeconds: 1 })
    started.push(broker)
    await subscribeAndLeave(broker, 'pont')
    const van = await connect(broker, 'furgoneta')
    await Promise.all(numbers(100).map((payload) => van.publishAsync('km0/p', payload, { qos: 1 })))
    const publishedMs = Date.now()
    const saves = join(dataDir, 'sessions', 'mosquitto.db')
    await until(() => existsSync(saves) && statSync(saves).mtimeMs > publishedMs, 'a save')
    await Promise.all(numbers(50, 100).map((payload) => van.publishAsync('km0/p', payload, { qos: 1 })))
    await broker.kill9()
    broker = await restart(broker)
    const { got } = await listen(broker, 'pont')
    await until(() => got.length >= 100, 'what was saved')
    expect(got.slice(0, 100)).toEqual(numbers(100))
    expect(numbers(50, 100)).toEqual(expect.arrayContaining(got.slice(100)))
  })
})
