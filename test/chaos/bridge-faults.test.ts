import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MQTT_TOPICS, positionTopic, TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type LogRecord, openLog } from '@km0/transport'
import { type MqttPublisher, openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BridgeProcess, buildBridge, readAll, until } from '../adapters/bridge-process.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const VANS = 20

describe('the bridge on real services: faults', () => {
  let services: TestServices<{ kafka: true; mqtt: true }>
  let publisher: MqttPublisher
  const bridges: BridgeProcess[] = []

  const start = async (environment: Readonly<Record<string, string>> = {}, options = {}) => {
    const bridge = await BridgeProcess.start({ ...services.environment, KM0_BRIDGE_SETTLE_MS: '0', ...environment }, options)
    bridges.push(bridge)
    return bridge
  }

  /** Publishes messages `from` to `to` at a pace; resolves when the broker has them all. */
  async function flow(from: number, to: number, perSecond: number): Promise<void> {
    const published: Promise<void>[] = []
    for (let n = from; n < to; n += 1) {
      const van = `v${n % VANS}`
      published.push(publisher.publish(positionTopic(van), JSON.stringify({ repartidor: van, lat: 41.9, lon: 2.8, data_ms: n })))
      if (n % 50 === 49) await pause(50_000 / perSecond)
    }
    await Promise.all(published)
  }

  const numbers = (records: readonly LogRecord[]) =>
    records.filter(({ key }) => key !== null).map((record) => (JSON.parse(record.value?.toString() ?? '') as { data_ms: number }).data_ms)

  /** What is lost and doubled of messages 0 to `count`, once the bridge has nothing more to do. */
  async function verdict(count: number, bridge: BridgeProcess): Promise<{ lost: number; doubled: number }> {
    let found: number[] = []
    await until('the queue is empty', async () => (await bridge.metric('queue_messages')) === 0)
    const deadlineMs = Date.now() + 30_000
    do {
      found = numbers(await readAll(services.kafka.brokers, TOPICS.positions.name))
    } while (new Set(found).size < count && Date.now() < deadlineMs)
    return { lost: count - new Set(found).size, doubled: found.length - new Set(found).size }
  }

  beforeAll(() => buildBridge())
  beforeEach(async () => {
    services = await startServices({ kafka: true, mqtt: true })
    await openLog({ brokers: [services.kafka.brokers], clientId: 'prova' }).ensureTopics([TOPICS.positions, TOPICS.deadLetters])
    publisher = openMqttPublisher({ url: services.mqtt.url, onError: () => undefined })
  })
  afterEach(async () => {
    await publisher.close(true)
    for (const bridge of bridges.splice(0)) await bridge.kill9()
    await services.stop()
  })

  it('Kafka away for longer than the keepalive: held, not reconnected, nothing lost or doubled (B35)', async () => {
    const bridge = await start({ KM0_BRIDGE_KEEPALIVE_SECONDS: '2', KM0_BRIDGE_QUEUE_MESSAGES: '300' })
    await flow(0, 500, 2_000)
    await services.kafka.stop()
    const during = flow(500, 1_500, 500)
    await until('the input is held', async () => (await bridge.metric('input_held')) === 1)
    await pause(6_000)
    expect(await bridge.metric('queue_messages')).toBeLessThanOrEqual(301)
    expect((await bridge.health()).parts.kafka?.status).not.toBe('down')
    await services.restart('kafka')
    await during
    expect(await verdict(1_500, bridge)).toEqual({ lost: 0, doubled: 0 })
    expect(await bridge.metric('connections_total')).toBe(1)
  })

  it('kill -9 of Kafka in the middle: nothing lost', async () => {
    const bridge = await start()
    const during = flow(0, 2_000, 1_000)
    await pause(500)
    await services.kafka.kill9()
    await services.restart('kafka')
    await during
    const { lost, doubled } = await verdict(2_000, bridge)
    expect(lost).toBe(0)
    // The batch that was in flight, at most.
    expect(doubled).toBeLessThan(500)
  })

  it('kill -9 of the bridge in the middle, started again within a second: nothing lost (B32)', async () => {
    const first = await start()
    const during = flow(0, 3_000, 1_000)
    await until('it is in the middle', async () => (await first.metric('stored_total')) > 500)
    await first.kill9()
    const second = await start()
    await during
    expect((await verdict(3_000, second)).lost).toBe(0)
    expect(await second.metric('connections_total')).toBeLessThanOrEqual(2)
  })

  it('broker restarted in the middle, its sessions kept: nothing lost', async () => {
    const bridge = await start()
    const during = flow(0, 2_000, 1_000)
    await until('it is in the middle', async () => (await bridge.metric('stored_total')) > 500)
    await services.mqtt.stop()
    await services.restart('mqtt')
    await during
    expect((await verdict(2_000, bridge)).lost).toBe(0)
  })

  it('broker restarted with an empty store: the bridge subscribes again (B38)', async () => {
    const bridge = await start()
    await flow(0, 100, 1_000)
    await until('stored', async () => (await bridge.metric('acknowledged_total')) === 100)
    await services.mqtt.stop()
    await rm(join(services.dataDir, 'mqtt', 'journal'), { recursive: true, force: true })
    await services.restart('mqtt')
    await until(
      'subscribed again',
      async () => (await bridge.metric('connections_total')) >= 2 && (await bridge.metric('mqtt_connected')) === 1,
    )
    await until('the publisher is back', () => publisher.connected())
    await flow(100, 200, 1_000)
    expect(await verdict(200, bridge)).toEqual({ lost: 0, doubled: 0 })
    expect(bridge.output).toContain('"sessionPresent":false')
  })

  it('both sides down in the wrong order: what was received and not stored comes again (B33, B36)', async () => {
    const first = await start()
    await services.kafka.stop()
    await flow(0, 50, 1_000)
    await until('received', async () => (await first.metric('received_total')) === 50)
    expect(await first.metric('acknowledged_total')).toBe(0)
    await first.kill9()
    await services.restart('kafka')
    const second = await start()
    expect(await verdict(50, second)).toEqual({ lost: 0, doubled: 0 })
  })

  it('the broker gone and SIGTERM: what is queued is written before the end (B37)', async () => {
    const bridge = await start({ KM0_BRIDGE_STOP_MS: '8000' })
    await services.kafka.stop()
    await flow(0, 10, 1_000)
    await until('received', async () => (await bridge.metric('received_total')) === 10)
    await services.mqtt.kill9()
    await services.restart('kafka')
    expect(await bridge.stop()).toBe(0)
    expect(numbers(await readAll(services.kafka.brokers, TOPICS.positions.name)).sort((a, b) => a - b)).toEqual([...Array(10).keys()])
  })

  it('SIGTERM in the middle of a flow: ends with code 0, and the next one has everything, once', async () => {
    const first = await start()
    const during = flow(0, 2_000, 1_000)
    await until('it is in the middle', async () => (await first.metric('stored_total')) > 500)
    expect(await first.stop()).toBe(0)
    const second = await start()
    await during
    expect(await verdict(2_000, second)).toEqual({ lost: 0, doubled: 0 })
  })

  it('says what is wrong: no broker, no Kafka', async () => {
    await services.kafka.stop()
    const bridge = await start({}, { wait: false })
    const { status, parts } = await bridge.health()
    expect(status).toBe('ok')
    expect(parts.kafka?.detail).toContain('no answer')
    await services.mqtt.stop()
    await until('it notices', async () => (await bridge.metric('mqtt_connected')) === 0)
    await services.restart('mqtt')
    await services.restart('kafka')
    await until('both are back', async () => (await bridge.metric('mqtt_connected')) === 1 && bridge.output.includes('log read'))
    await flow(0, 10, 1_000)
    expect(await verdict(10, bridge)).toEqual({ lost: 0, doubled: 0 })
  })

  it('play mode: the player’s clock stamps the log, also across kill -9', async () => {
    const environment = { KM0_CLOCK: 'play' }
    const startMs = Math.floor(Date.now() / 10_000) * 10_000 - 3_600_000
    let bridge = await start(environment)
    const play = async (fromSecond: number, toSecond: number) => {
      for (let second = fromSecond; second < toSecond; second += 1) {
        const ms = startMs + second * 1_000
        await publisher.publish(MQTT_TOPICS.clock, JSON.stringify({ ara_ms: ms }))
        await publisher.publish(positionTopic('v'), JSON.stringify({ repartidor: 'v', lat: 41.9, lon: 2.8, data_ms: ms - 250 }))
      }
    }
    await play(0, 100)
    await until('it is in the middle', async () => (await bridge.metric('stored_total')) > 50)
    await bridge.kill9()
    await play(100, 130)
    bridge = await start(environment)
    await play(130, 200)
    await until('all is acknowledged', async () => (await bridge.metric('queue_messages')) === 0)
    await until('the last is in', async () => new Set(numbers(await readAll(services.kafka.brokers, TOPICS.positions.name))).size === 200)
    const records = await readAll(services.kafka.brokers, TOPICS.positions.name)
    for (const record of records.filter(({ key }) => key === 'v')) {
      const [event = 0] = numbers([record])
      // A position that is delivered again after the crash may be stamped by the tick that was the newest then.
      expect(record.timestampMs - event).toBeGreaterThanOrEqual(250)
      expect(record.timestampMs - event).toBeLessThanOrEqual(100_250)
    }
    const beats = records.filter(({ value }) => value?.includes('"batec"'))
    for (let partition = 0; partition < TOPICS.positions.partitions; partition += 1) {
      const times = [...new Set(beats.filter((beat) => beat.partition === partition).map(({ timestampMs }) => timestampMs))]
      expect(times.sort()).toEqual(Array.from({ length: 19 }, (_, n) => startMs + (n + 1) * 10_000))
    }
  })
})
