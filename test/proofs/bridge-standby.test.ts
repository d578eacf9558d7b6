import { positionTopic, TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type LogRecord, openLog } from '@km0/transport'
import { type MqttPublisher, openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BridgeProcess, buildBridge, readAll, until } from '../adapters/bridge-process.ts'

const VANS = 20
const TAKE_OVER_MS = 10_000
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Beat {
  readonly pont: string
  readonly data_ms: number
  readonly offset: number
  readonly partition: number
}

describe('two bridges on real services', () => {
  let services: TestServices<{ kafka: true; mqtt: true }>
  let publisher: MqttPublisher
  const bridges: BridgeProcess[] = []

  /** Starts one and waits until it stands by or is active. */
  const start = async (name: string, environment: Readonly<Record<string, string>> = {}) => {
    const settings = {
      KM0_BRIDGE_LEASE: 'kafka',
      KM0_BRIDGE_INSTANCE: name,
      KM0_BRIDGE_SETTLE_MS: '0',
      KM0_BRIDGE_BACKLOG_LIMIT_MS: '0',
      ...environment,
    }
    const bridge = await BridgeProcess.start({ ...services.environment, ...settings }, { wait: false })
    bridges.push(bridge)
    return bridge
  }
  const role = async (bridge: BridgeProcess) => (await bridge.health()).parts.lease?.detail
  const isActive = async (bridge: BridgeProcess) => (await bridge.metric('mqtt_connected')) === 1
  const pair = async () => {
    const first = await start('a')
    await until('the first is active', () => isActive(first))
    const second = await start('b')
    await until('the second stands by', async () => (await role(second)) === 'standing by')
    return { first, second }
  }

  async function flow(from: number, to: number, perSecond: number): Promise<void> {
    const published: Promise<void>[] = []
    for (let n = from; n < to; n += 1) {
      const van = `v${n % VANS}`
      published.push(publisher.publish(positionTopic(van), JSON.stringify({ repartidor: van, lat: 41.9, lon: 2.8, data_ms: n })))
      if (n % 10 === 9) await pause(10_000 / perSecond)
    }
    await Promise.all(published)
  }
  const everything = () => readAll(services.kafka.brokers, TOPICS.positions.name).catch((): LogRecord[] => [])
  const numbers = (records: readonly LogRecord[]) =>
    records.filter(({ key }) => key !== null).map(({ value }) => (JSON.parse(value?.toString() ?? '') as { data_ms: number }).data_ms)
  const beats = (records: readonly LogRecord[]): Beat[] =>
    records
      .filter(({ value }) => value?.includes('"batec"'))
      .map(({ value, offset, partition }) => ({ ...(JSON.parse(value?.toString() ?? '') as Beat), offset, partition }))
  const allStored = (count: number) => until('all is stored', async () => new Set(numbers(await everything())).size === count)

  beforeAll(() => buildBridge())
  beforeEach(async () => {
    services = await startServices({ kafka: true, mqtt: true })
    const log = openLog({ brokers: [services.kafka.brokers], clientId: 'prova' })
    await log.ensureTopics([TOPICS.positions, TOPICS.deadLetters, TOPICS.bridgeLease])
    publisher = openMqttPublisher({ url: services.mqtt.url, onError: () => undefined })
  })
  afterEach(async () => {
    await publisher.close(true)
    for (const bridge of bridges.splice(0)) await bridge.kill9()
    await services.stop()
  })

  it('kill -9 of the active one: the other takes over within 10 s, with what is parked, and nothing is lost', async () => {
    const { first, second } = await pair()
    expect((await second.health()).status).toBe('ok')
    expect((await second.health()).parts.mqtt?.detail).toBe('standing by')
    expect(await second.metric('active')).toBe(0)
    const count = 3_000
    const during = flow(0, count, 250)
    await until('it is in the middle', async () => (await first.metric('stored_total')) > 400)
    expect(await second.metric('received_total')).toBe(0)
    await first.kill9()
    const killedMs = Date.now()
    await until('the second has written', async () => (await second.metric('acknowledged_total')) > 0, TAKE_OVER_MS)
    console.log(`take-over after kill -9: ${Date.now() - killedMs} ms`)
    await during
    await allStored(count)
    expect(await role(second)).toBe('active')
    // The one that comes back stands by, and takes nothing away.
    const third = await start('c')
    await until('the third stands by', async () => (await role(third)) === 'standing by')
    expect(await role(second)).toBe('active')
    expect(await second.metric('connections_total')).toBe(1)
  })

  it('the active one stands still for 20 s and wakes up: the other took over, and it writes nothing more', async () => {
    const { first, second } = await pair()
    const count = 8_000
    const during = flow(0, count, 250)
    await until('it is in the middle', async () => (await first.metric('stored_total')) > 400)
    first.freeze()
    const frozenMs = Date.now()
    // Its session has not ended yet: all that is in the log is the first one's.
    await pause(1_000)
    let writtenByFirst = 0
    await until('the log is read', async () => {
      writtenByFirst = (await everything()).length
      return writtenByFirst > 400
    })
    expect(await second.metric('active')).toBe(0)
    await until('the second has written', async () => (await second.metric('acknowledged_total')) > 0, TAKE_OVER_MS)
    const tookOverMs = Date.now() - frozenMs
    await pause(20_000 - tookOverMs)
    const before = await everything()
    first.thaw()
    await until('the first stands by', async () => (await role(first)) === 'standing by')
    await during
    await allStored(count)
    // Heartbeats of the second come every 10 s: one more after the first woke up.
    await until('a heartbeat', async () =>
      beats(await everything()).some(({ pont, data_ms }) => pont === 'b' && data_ms > frozenMs + 20_000),
    )
    const ends = new Map<number, number>()
    for (const { partition, offset } of before) ends.set(partition, Math.max(ends.get(partition) ?? -1, offset))
    const after = beats(await everything()).filter(({ partition, offset }) => offset > (ends.get(partition) ?? -1))
    expect(await first.metric('stored_total')).toBeLessThanOrEqual(writtenByFirst)
    expect(after.length).toBeGreaterThan(0)
    expect(after.filter(({ pont }) => pont === 'a')).toEqual([])
    // It was thrown out by the take-over, and did not throw the second out in turn.
    expect(await second.metric('connections_total')).toBe(1)
    expect(first.output).toContain('another bridge has become the active one')
    console.log(`take-over after SIGSTOP: ${tookOverMs} ms`)
  })

  it('SIGTERM of the active one: the lease is given back, the other is active at once, nothing lost or doubled', async () => {
    const { first, second } = await pair()
    const count = 1_500
    const during = flow(0, count, 250)
    await until('it is in the middle', async () => (await first.metric('stored_total')) > 400)
    expect(await first.stop()).toBe(0)
    const stoppedMs = Date.now()
    await until('the second is active', () => isActive(second), 5_000)
    console.log(`take-over after SIGTERM: ${Date.now() - stoppedMs} ms`)
    await during
    await allStored(count)
    expect(numbers(await everything())).toHaveLength(count)
  })

  it('Kafka restarts: one of them is active again, nothing is lost', async () => {
    const { first, second } = await pair()
    const during = flow(0, 1_000, 100)
    await until('it is in the middle', async () => (await first.metric('stored_total')) > 300)
    await services.kafka.stop()
    await pause(8_000)
    expect((await first.health()).parts.lease?.status).toBe('degraded')
    await services.restart('kafka')
    await during
    await allStored(1_000)
    const roles = async () => [await role(first), await role(second)].sort()
    await until('one of each', async () => (await roles()).join() === 'active,standing by')
  })
})
