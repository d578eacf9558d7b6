import { MQTT_TOPICS, positionTopic, TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { openLog } from '@km0/transport'
import { type MqttPublisher, openMqttPublisher } from '@km0/transport/mqtt-publisher'
import mqtt from 'mqtt'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BridgeProcess, buildBridge, readAll, until } from '../adapters/bridge-process.ts'

describe('the bridge on real services: its input', () => {
  let services: TestServices<{ kafka: true; mqtt: true }>
  let publisher: MqttPublisher
  const bridges: BridgeProcess[] = []

  const start = async (environment: Readonly<Record<string, string>>, options = {}) => {
    const bridge = await BridgeProcess.start({ ...services.environment, ...environment }, options)
    bridges.push(bridge)
    return bridge
  }
  const publish = (ms: number) =>
    publisher.publish(positionTopic('v'), JSON.stringify({ repartidor: 'v', lat: 41.9, lon: 2.8, data_ms: ms }))
  /** What is in the log; nothing while a fresh Kafka does not let anybody read yet. */
  const stored = async () => {
    const records = await readAll(services.kafka.brokers, TOPICS.positions.name).catch(() => [])
    const ours = records.filter(({ key }) => key === 'v')
    return ours.map(({ value }) => (JSON.parse(value?.toString() ?? '') as { data_ms: number }).data_ms)
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

  it('connected, and its subscriptions are gone: red, then subscribed anew, and messages flow (B39)', async () => {
    const bridge = await start({ KM0_BRIDGE_PROBE_EVERY_MS: '300', KM0_BRIDGE_PROBE_LIMIT_MS: '2000' })
    await until('a probe came back', async () => (await bridge.metric('probe_age_seconds')) < 1)
    expect((await bridge.health()).parts.input).toEqual({ status: 'ok' })
    // Somebody takes the session, empties it and leaves: the bridge finds its session present and believes that it is subscribed.
    const intruder = await mqtt.connectAsync(services.mqtt.url, {
      clientId: 'km0-pont',
      clean: false,
      protocolVersion: 4,
      reconnectPeriod: 0,
    })
    // A session without any subscription would not count as one.
    await intruder.subscribeAsync('altre/tema', { qos: 1 })
    await intruder.unsubscribeAsync([MQTT_TOPICS.positionFilter, MQTT_TOPICS.owntracksFilter, MQTT_TOPICS.hfpFilter, MQTT_TOPICS.probe])
    await until('the bridge is back', async () => (await bridge.metric('connections_total')) >= 2)
    expect(await bridge.metric('mqtt_connected')).toBe(1)
    await until('red', async () => (await bridge.health()).parts.input?.status === 'down')
    expect(await bridge.metric('input_deaf')).toBe(1)
    await until('green', async () => (await bridge.health()).parts.input?.status === 'ok')
    await publish(1)
    await until('stored', async () => (await stored()).length === 1)
    await intruder.endAsync(true)
  })

  it('two bridges with one client id: said once, backed off, nothing lost (B31)', async () => {
    const environment = { KM0_BRIDGE_TAKEOVER_WAIT_MS: '4000' }
    const two = [await start(environment), await start(environment, { wait: false })]
    const count = 200
    const published = (async () => {
      for (let n = 0; n < count; n += 1) {
        await publish(n)
        await new Promise((resolve) => setTimeout(resolve, 40))
      }
    })()
    const shared = async () => (await Promise.all(two.map((bridge) => bridge.metric('client_id_shared')))).reduce((a, b) => a + b, 0)
    await until('found', async () => (await shared()) > 0, 60_000)
    const finder = two[(await two[0]?.metric('client_id_shared')) === 1 ? 0 : 1] as BridgeProcess
    expect((await finder.health()).parts.input?.status).toBe('degraded')
    const connections = async () => (await Promise.all(two.map((bridge) => bridge.metric('connections_total')))).reduce((a, b) => a + b, 0)
    const before = await connections()
    await new Promise((resolve) => setTimeout(resolve, 8_000))
    // 8 s at a wait of 4 s each, and what the other one does before it has found out too.
    expect((await connections()) - before).toBeLessThanOrEqual(8)
    await published
    await until('all is stored', async () => new Set(await stored()).size === count)
    expect(finder.output.split('another client connects with our client id').length - 1).toBe(1)
  })
})
