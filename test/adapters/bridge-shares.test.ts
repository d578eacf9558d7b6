import { TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type LogRecord, openLog } from '@km0/transport'
import { type MqttPublisher, openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BridgeProcess, buildBridge, readAll, until } from './bridge-process.ts'

const VANS = 20
const NORTH = [0, 1, 2]
const SOUTH = [3, 4, 5]

describe('two active bridges that share a fleet, on real services', () => {
  let services: TestServices<{ kafka: true; mqtt: true }>
  let publisher: MqttPublisher
  const bridges: BridgeProcess[] = []
  let north: BridgeProcess
  let south: BridgeProcess

  const start = async (group: string, partitions: string, further: Readonly<Record<string, string>> = {}, wait = true) => {
    const settings = {
      KM0_BRIDGE_CLIENT_ID: `km0-pont-${group}`,
      KM0_BRIDGE_FILTERS: `km0/repartidors/${group}/+/posicio`,
      KM0_BRIDGE_PARTITIONS: partitions,
      KM0_BRIDGE_LEASE: 'kafka',
      KM0_BRIDGE_SETTLE_MS: '0',
      KM0_BRIDGE_BACKLOG_LIMIT_MS: '0',
      KM0_BRIDGE_NEIGHBOURS_EVERY_MS: '1000',
    }
    const bridge = await BridgeProcess.start({ ...services.environment, ...settings, ...further }, { wait })
    bridges.push(bridge)
    return bridge
  }
  const publish = async (group: string, from: number, to: number) => {
    for (let n = from; n < to; n += 1) {
      const van = `${group}-${n % VANS}`
      const payload = JSON.stringify({ repartidor: van, lat: 41.9, lon: 2.8, data_ms: n })
      await publisher.publish(`km0/repartidors/${group}/${van}/posicio`, payload)
    }
  }
  const records = () => readAll(services.kafka.brokers, TOPICS.positions.name)
  const numbersOf = (group: string, all: readonly LogRecord[]) =>
    new Set(
      all
        .filter(({ key }) => key?.startsWith(`${group}-`))
        .map(({ value }) => (JSON.parse(value?.toString() ?? '') as { data_ms: number }).data_ms),
    )
  const stored = (group: string, count: number) =>
    until(`${group} is stored`, async () => numbersOf(group, await records()).size === count, 60_000)

  beforeAll(async () => {
    buildBridge()
    services = await startServices({ kafka: true, mqtt: true })
    await openLog({ brokers: [services.kafka.brokers], clientId: 'prova' }).ensureTopics([
      TOPICS.positions,
      TOPICS.deadLetters,
      TOPICS.bridgeLease,
    ])
    publisher = openMqttPublisher({ url: services.mqtt.url })
    ;[north, south] = await Promise.all([start('nord', '0-2'), start('sud', '3-5')])
  })
  afterAll(async () => {
    await publisher?.close(true)
    for (const bridge of bridges) await bridge.kill9()
    await services?.stop()
  })

  it('each van is in exactly one partition, of its own bridge, and every partition has heartbeats of one bridge', async () => {
    await Promise.all([publish('nord', 0, 200), publish('sud', 0, 200)])
    await Promise.all([stored('nord', 200), stored('sud', 200)])
    const beats = (all: readonly LogRecord[]) => all.filter(({ value }) => value?.includes('"batec"'))
    await until('heartbeats', async () => new Set(beats(await records()).map(({ partition }) => partition)).size === 6)
    const all = await records()
    const places = new Map<string, Set<number>>()
    for (const { key, partition } of all) if (key !== null) places.set(key, (places.get(key) ?? new Set()).add(partition))
    expect(places.size).toBe(2 * VANS)
    for (const [van, partitions] of places) {
      expect(partitions.size, van).toBe(1)
      expect(van.startsWith('nord') ? NORTH : SOUTH, van).toContain([...partitions][0])
    }
    for (const { value, partition } of beats(all)) {
      const client = NORTH.includes(partition) ? 'km0-pont-nord' : 'km0-pont-sud'
      expect(JSON.parse(value?.toString() ?? '')).toMatchObject({ client })
    }
    expect(await north.health()).toMatchObject({ status: 'ok', parts: { lease: { detail: 'active' }, partitions: { status: 'ok' } } })
    expect(await south.health()).toMatchObject({ status: 'ok', parts: { lease: { detail: 'active' } } })
  })

  it('kill -9 of one leaves the other alone, and the one that stands by for it takes over what was parked', async () => {
    const spare = await start('nord', '0-2', {}, false)
    await until('the spare one stands by', async () => (await spare.health()).parts.lease?.detail === 'standing by')
    // Wrong on purpose: partitions of both.
    const wrong = await start('est', '2-3', { KM0_BRIDGE_LEASE: 'none' })
    await north.kill9()
    const killedMs = Date.now()
    await Promise.all([publish('nord', 200, 300), publish('sud', 200, 300)])
    await stored('sud', 300)
    await stored('nord', 300)
    console.log(`the spare bridge had written what was parked ${Date.now() - killedMs} ms after the kill`)
    expect((await spare.health()).parts.lease?.detail).toBe('active')
    expect(await south.metric('connections_total')).toBe(1)
    expect(await spare.metric('connections_total')).toBe(1)

    await until('both are found', async () => (await wrong.metric('partitions_shared')) === 2)
    const { status, parts } = await wrong.health()
    expect([status, parts.partitions?.status]).toEqual(['degraded', 'degraded'])
    expect(parts.partitions?.detail).toContain('km0-pont-nord writes into 2')
    expect(parts.partitions?.detail).toContain('km0-pont-sud writes into 3')
    expect(wrong.output).toContain('another bridge writes into partitions of this one')
    await until('the other side sees it too', async () => (await south.metric('partitions_shared')) === 1)
  })

  it('a partition that the topic does not have ends the start with what is wrong', async () => {
    const wrong = await start('oest', '5-6', { KM0_BRIDGE_LEASE: 'none' }, false)
    await until('it says so', () => wrong.output.includes('KM0_BRIDGE_PARTITIONS names 6, but the topic of positions has 6 partitions'))
    expect(await wrong.exited).not.toBe(0)
  })
})
