// Messages a second from MQTT to Kafka through the real bridge.
//   node infra/build.mjs apps/bridge && npx tsx test/bench/bridge-alone.ts [--messages 100000] [--source raw|broker] [--in-flight 2000]
// `raw`: a source of a few bytes in this process stands for the broker, so that the bridge is what is measured; `broker`: the embedded
// MQTT broker and ten publishers, all on this machine.
import { createServer, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { positionTopic, TOPICS } from '@km0/contracts'
import { startServices } from '@km0/testkit/services'
import { openLog } from '@km0/transport'
import { openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { BridgeProcess, until } from '../adapters/bridge-process.ts'
import { usageOf } from './proc.ts'

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    source: { type: 'string', default: 'raw' },
    'in-flight': { type: 'string', default: '2000' },
  },
})
const count = Number(values.messages)
const inFlight = Number(values['in-flight'])
const VANS = 140

function message(n: number): { topic: string; payload: string } {
  const van = `furgoneta-${n % VANS}`
  return { topic: positionTopic(van), payload: `{"repartidor":"${van}","lat":41.9794,"lon":2.8214,"data_ms":${1_789_380_000_000 + n}}` }
}

function publishPacket(n: number): Buffer {
  const { topic, payload } = message(n)
  const name = Buffer.from(topic)
  const body = Buffer.from(payload)
  const length = 4 + name.length + body.length
  const id = (n % 65_535) + 1
  const head = [0x32, (length & 127) | 128, length >> 7, name.length >> 8, name.length & 255]
  return Buffer.concat([Buffer.from(head), name, Buffer.from([id >> 8, id & 255]), body])
}

/** Answers CONNECT and SUBSCRIBE, then keeps `inFlight` messages unacknowledged when `begin` is called; resolves at the last PUBACK. */
async function rawSource(): Promise<{ url: string; begin: () => Promise<void>; close: () => void }> {
  let socket: Socket | undefined
  let sent = 0
  let acknowledged = 0
  let finished: (() => void) | undefined
  const fill = () => {
    const packets: Buffer[] = []
    for (; sent < count && sent - acknowledged < inFlight; sent += 1) packets.push(publishPacket(sent))
    if (packets.length > 0) socket?.write(Buffer.concat(packets))
  }
  const server = createServer({ noDelay: true }, (connection) => {
    socket = connection
    let pending = Buffer.alloc(0)
    connection.on('error', () => undefined)
    connection.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      let at = 0
      for (; at + 2 <= pending.length && at + 2 + pending[at + 1]! <= pending.length; at += 2 + pending[at + 1]!) {
        const type = pending[at]! >> 4
        if (type === 1) connection.write(Buffer.from([0x20, 2, 1, 0]))
        if (type === 8) connection.write(Buffer.from([0x90, 5, pending[at + 2]!, pending[at + 3]!, 1, 1, 1]))
        if (type === 12) connection.write(Buffer.from([0xd0, 0]))
        if (type === 4) acknowledged += 1
      }
      pending = pending.subarray(at)
      if (acknowledged > 0) fill()
      if (acknowledged === count) finished?.()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `mqtt://127.0.0.1:${port}`,
    begin: () =>
      new Promise((resolve) => {
        finished = resolve
        fill()
      }),
    close: () => server.close(),
  }
}

async function brokerSource(url: string): Promise<void> {
  const publishers = Array.from({ length: 10 }, () => openMqttPublisher({ url }))
  const share = Math.ceil(count / publishers.length)
  await Promise.all(
    publishers.map(async (publisher, index) => {
      for (let n = index * share; n < Math.min(count, (index + 1) * share); n += 50) {
        await Promise.all(
          Array.from({ length: Math.min(50, count - n) }, (_, k) => {
            const { topic, payload } = message(n + k)
            return publisher.publish(topic, payload)
          }),
        )
      }
    }),
  )
  await Promise.all(publishers.map((publisher) => publisher.close()))
}

const services = await startServices({ kafka: true, mqtt: true })
const log = openLog({ brokers: [services.kafka.brokers], clientId: 'banc' })
await log.ensureTopics([TOPICS.positions, TOPICS.deadLetters])
const raw = values.source === 'raw' ? await rawSource() : null
// The source of a few bytes knows three filters and one connection: no probe.
const environment = raw === null ? {} : { MQTT_URL: raw.url, KM0_BRIDGE_PROBE_EVERY_MS: '0' }
const bridge = await BridgeProcess.start({ ...services.environment, ...environment })
const before = usageOf(bridge.pid)
const startMs = performance.now()
if (raw === null) await brokerSource(services.mqtt.url)
else await raw.begin()
await until('Kafka has all', async () => (await bridge.metric('acknowledged_total')) >= count, 300_000)
const seconds = (performance.now() - startMs) / 1000
const after = usageOf(bridge.pid)
const ends = await log.endOffsets(TOPICS.positions.name)
const records = [...ends.values()].reduce((sum, end) => sum + end, 0)
console.log(
  JSON.stringify({
    source: values.source,
    messages: count,
    seconds: Number(seconds.toFixed(2)),
    perSecond: Math.round(count / seconds),
    bridgeCpuSeconds: Number((after.cpuSeconds - before.cpuSeconds).toFixed(2)),
    bridgePeakMib: after.peakRssMb,
    recordsInLog: records,
  }),
)
await bridge.stop()
raw?.close()
await services.stop()
process.exit(0)
