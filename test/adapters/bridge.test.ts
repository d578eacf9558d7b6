import { createHash } from 'node:crypto'
import { type DeadLetterValue, positionTopic, TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type LogRecord, openLog } from '@km0/transport'
import { type MqttPublisher, openMqttPublisher } from '@km0/transport/mqtt-publisher'
import mqtt from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BridgeProcess, buildBridge, readAll, until } from './bridge-process.ts'

type Services = TestServices<{ kafka: true; mqtt: true }>

const position = (van: string, n: number, further: object = {}) => ({
  repartidor: van,
  lat: 41.9794,
  lon: 2.8214,
  data_ms: Date.now() + n,
  ...further,
})

/** Every bad input that an operator has to expect, each between two good ones of its neighbours. */
const REFUSED: readonly (readonly [name: string, topic: string, payload: string | Buffer, reason: string])[] = [
  ['broken JSON', positionTopic('dolent-1'), '{"repartidor":"dolent-1","lat":41.97,"lon":2.8,"da', 'json'],
  ['a decimal comma (B16)', positionTopic('dolent-2'), '{"longitude":12,05197,"latitude":57,752934}', 'json'],
  ['bytes that are not UTF-8 (B17)', positionTopic('dolent-3'), Buffer.from([0xfc, 0x7e, 0x29]), 'utf8'],
  ['JSON cut inside a character (B18)', positionTopic('dolent-4'), Buffer.from([0x7b, 0x22, 0xc3]), 'utf8'],
  ['300 bytes of protobuf (B17)', positionTopic('dolent-5'), Buffer.alloc(300, 0xce), 'utf8'],
  ['an empty payload (B27)', positionTopic('dolent-6'), '', 'buit'],
  ['a waypoint (B30)', 'owntracks/u/dolent-7', '{"_type":"waypoint","lat":41.9,"lon":2.8,"tst":1532984679}', 'no-posicio'],
  ['a will as payload (B29)', 'owntracks/u/dolent-8', '{"_type":"lwt","tst":1459198293}', 'no-posicio'],
  ['free text under a van (B19)', 'owntracks/u/dolent-9/cmd/out', 'ACK: login accepted', 'no-posicio'],
  ['a level short (B24)', 'owntracks/dolent-10', '{"_type":"location","lat":1,"lon":1,"tst":1}', 'no-posicio'],
  ['another van than the topic says', positionTopic('dolent-11'), JSON.stringify(position('dolent-12', 0)), 'identitat'],
  ['no van', positionTopic('dolent-13'), '{"lat":41.9,"lon":2.8,"data_ms":1772442000000}', 'camps'],
  ['a heartbeat from a van', positionTopic('dolent-14'), '{"repartidor":"dolent-14","tipus":"batec","data_ms":1}', 'no-posicio'],
  [
    '2 MB between two good ones (B21)',
    positionTopic('dolent-15'),
    JSON.stringify(position('dolent-15', 0, { x: 'x'.repeat(2_000_000) })),
    'massa-gran',
  ],
]

/** What rules 1 and 2 of the stream job refuse: the bridge writes it as it came. */
const PASSED: readonly (readonly [name: string, van: string, further: object])[] = [
  ['wrong types (B14)', 'passa-1', { lat: null, lon: true }],
  ['quoted numbers (B13)', 'passa-2', { lat: '41.9794', lon: '2.8214' }],
  ['seconds for milliseconds (B01)', 'passa-3', { data_ms: 1557989535 }],
  ['a time divided by 1000 once too often (B02)', 'passa-4', { data_ms: 1544357 }],
  ['334 days ahead (B04)', 'passa-5', { data_ms: Date.now() + 334 * 86_400_000 }],
  ['the year 2006 (B06)', 'passa-6', { data_ms: 1153126800000 }],
  ['0,0 (B09)', 'passa-7', { lat: 0, lon: 0 }],
  ['out of range (B11)', 'passa-8', { lat: 300.1, lon: 41.9 }],
  ['degrees without a point (B12)', 'passa-9', { lat: 41979400, lon: 2821400 }],
  ['an id with a slash (B23)', 'a/b', {}],
  ['an id with a plus (B23)', '+1', {}],
  ['an id with a hash (B23)', 'SHSW-1#11490B#1', {}],
  ['an emoji as id (B23)', 'furgoneta 🚚', {}],
  ['300 characters as id (B23)', 'x'.repeat(300), {}],
]

async function createTopics(services: Services): Promise<void> {
  const log = openLog({ brokers: [services.kafka.brokers], clientId: 'prova' })
  await log.ensureTopics([TOPICS.positions, TOPICS.deadLetters])
}

const parse = <Value>(record: LogRecord): Value => JSON.parse(record.value?.toString() ?? 'null') as Value

describe('the bridge on real services: bad input', () => {
  let services: Services
  let bridge: BridgeProcess
  let publisher: MqttPublisher
  let positions: LogRecord[]
  let letters: { readonly record: LogRecord; readonly value: DeadLetterValue }[]
  const passed = PASSED.map(([name, van, further]) => ({ name, van, payload: JSON.stringify(position(van, 0, further)) }))

  beforeAll(async () => {
    buildBridge()
    services = await startServices({ kafka: true, mqtt: true })
    await createTopics(services)
    publisher = openMqttPublisher({ url: services.mqtt.url })
    // Before the bridge listens, so that it gets them as retained copies.
    await publisher.publish(positionTopic('retinguda'), JSON.stringify(position('retinguda', 0)), { retain: true })
    await publisher.publish('owntracks/u/retinguda', 'offline', { retain: true })
    bridge = await BridgeProcess.start({ ...services.environment, KM0_BRIDGE_SETTLE_MS: '0', KM0_BRIDGE_INSTANCE: 'prova' })
    for (const [index, [, topic, payload]] of REFUSED.entries()) {
      await publisher.publish(positionTopic('bona'), JSON.stringify(position('bona', 2 * index)))
      await publisher.publish(topic, payload)
      await publisher.publish(positionTopic('bona'), JSON.stringify(position('bona', 2 * index + 1)))
    }
    for (const { van, payload } of passed) await publisher.publish(positionTopic(van), payload)
    await leaveAWill()
    await publisher.publish(positionTopic('viva'), JSON.stringify(position('viva', 0)), { retain: true })
    const total = REFUSED.length * 3 + PASSED.length + 4
    await until('everything is acknowledged', async () => (await bridge.metric('acknowledged_total')) === total)
    await until('a heartbeat is written', async () => (await bridge.metric('heartbeats_total')) > 0)
    await until('the queue is empty', async () => (await bridge.metric('queue_messages')) === 0)
    positions = await readAll(services.kafka.brokers, TOPICS.positions.name)
    const records = await readAll(services.kafka.brokers, TOPICS.deadLetters.name)
    letters = records.map((record) => ({ record, value: parse<DeadLetterValue>(record) }))
  })
  afterAll(async () => {
    await publisher?.close(true)
    await bridge?.stop()
    await services?.stop()
  })

  /** A client with a will dies without a word, and the broker publishes the will. */
  async function leaveAWill(): Promise<void> {
    const topic = 'owntracks/u/testament'
    const client = await mqtt.connectAsync(services.mqtt.url, {
      will: { topic, payload: Buffer.from('{"_type":"lwt"}'), qos: 1, retain: true },
    })
    client.on('error', () => undefined)
    client.options.reconnectPeriod = 0
    client.stream.destroy()
  }

  it('good neighbours of every bad message are all in the log, once, in order', () => {
    const times = positions.filter(({ key }) => key === 'bona').map((record) => parse<{ data_ms: number }>(record).data_ms)
    expect(times).toHaveLength(2 * REFUSED.length)
    expect(new Set(times).size).toBe(times.length)
  })

  it.each(REFUSED)('%s goes to the dead letters with its bytes', (_name, topic, payload, reason) => {
    const bytes = Buffer.from(payload)
    const found = letters.filter(({ value }) => value.tema === topic)
    expect(found).toHaveLength(1)
    expect(found[0]?.value).toMatchObject({
      motiu: reason,
      mida: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      cos: bytes.subarray(0, 65_536).toString('base64'),
    })
  })

  it.each(passed.map(({ name, van, payload }) => [name, van, payload] as const))('%s is written as it came', (_name, van, payload) => {
    const found = positions.filter(({ key }) => key === van)
    expect(found.map(({ value }) => value?.toString())).toEqual([payload])
  })

  it('retained copies are refused; what is published retained now is news (B25, B28)', () => {
    const retained = letters.filter(({ value }) => value.motiu === 'retingut').map(({ value }) => value.tema)
    expect(retained.sort()).toEqual([positionTopic('retinguda'), 'owntracks/u/retinguda'].sort())
    expect(positions.filter(({ key }) => key === 'retinguda')).toHaveLength(0)
    expect(positions.filter(({ key }) => key === 'viva')).toHaveLength(1)
  })

  it('a will is no position (B29)', () => {
    expect(letters.find(({ value }) => value.tema === 'owntracks/u/testament')?.value.motiu).toBe('no-posicio')
  })

  it('counts every refusal by its reason', async () => {
    const expected = new Map<string, number>([
      ['retingut', 2],
      ['no-posicio', 1],
    ])
    for (const [, , , reason] of REFUSED) expected.set(reason, (expected.get(reason) ?? 0) + 1)
    for (const [reason, count] of expected)
      expect([reason, await bridge.metric('refused_total', `reason="${reason}"`)]).toEqual([reason, count])
    expect(letters).toHaveLength([...expected.values()].reduce((sum, count) => sum + count, 0))
  })

  it('stamps records with their arrival, and a van stays in one partition', () => {
    for (const { timestampMs } of positions) expect(Math.abs(timestampMs - Date.now())).toBeLessThan(120_000)
    expect(new Set(positions.filter(({ key }) => key === 'bona').map(({ partition }) => partition)).size).toBe(1)
  })

  it('settings are the first record of each partition, heartbeats go to each', () => {
    const partitions = [...new Set(positions.map(({ partition }) => partition))]
    expect(partitions).toHaveLength(TOPICS.positions.partitions)
    for (const partition of partitions) {
      const records = positions.filter((record) => record.partition === partition).sort((a, b) => a.offset - b.offset)
      expect(parse(records[0]!)).toMatchObject({ tipus: 'parametres', retard_ms: 45_000, marge_ms: 0 })
      const beats = records
        .filter(({ key }) => key === null)
        .slice(1)
        .map((record) => parse<{ data_ms: number }>(record))
      expect(beats.length).toBeGreaterThan(0)
      expect(beats[0]).toMatchObject({ tipus: 'batec', pont: 'prova', retard_ms: 45_000, marge_ms: 0 })
    }
  })

  it('is healthy', async () => {
    expect(await bridge.health()).toMatchObject({ status: 'ok' })
  })

  it('writes settings again only when they differ', async () => {
    const countSettings = async () =>
      (await readAll(services.kafka.brokers, TOPICS.positions.name)).filter((record) => record.value?.includes('"parametres"')).length
    const partitions = TOPICS.positions.partitions
    await bridge.stop()
    bridge = await BridgeProcess.start({ ...services.environment, KM0_BRIDGE_SETTLE_MS: '0' })
    expect(await countSettings()).toBe(partitions)
    await bridge.stop()
    const changed = { ...services.environment, KM0_BRIDGE_SETTLE_MS: '0', KM0_POSITIONS_DELAY_MS: '60000' }
    bridge = await BridgeProcess.start(changed)
    await until('written', async () => (await bridge.metric('stored_total')) >= partitions)
    expect(await countSettings()).toBe(2 * partitions)
    await bridge.stop()
    bridge = await BridgeProcess.start(changed)
    expect(await countSettings()).toBe(2 * partitions)
  })
})
