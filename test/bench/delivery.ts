// What each way of delivery costs, side by side, Kafka to Kafka: records a second, CPU a record, and how long a result takes from the record that
// causes it to a reader. `npx tsx test/bench/delivery.ts [--records N] [--seconds N]`; it starts a Kafka of its own and builds the job.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { TOPICS } from '@km0/contracts'
import { startServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { buildStream, StreamProcess, until } from '../chaos/stream-process.ts'

const { values } = parseArgs({ options: { records: { type: 'string', default: '300000' }, seconds: { type: 'string', default: '20' } } })
const recordCount = Number(values.records)
const seconds = Number(values.seconds)
const VANS = 140
const SEND_EVERY_MS = 100

const position = (van: number, nowMs: number, eventMs: number): OutRecord => ({
  topic: TOPICS.positions.name,
  key: `furgoneta-${van}`,
  timestampMs: nowMs,
  value: `{"repartidor":"furgoneta-${van}","lat":${(41.9 + (eventMs % 99_991) / 1e6).toFixed(6)},"lon":2.820000,"data_ms":${eventMs}}`,
})

/** A backlog that ends ten minutes ago. */
async function fill(log: Log): Promise<void> {
  const producer = await log.openProducer()
  const startMs = Date.now() - 600_000 - recordCount * 36
  for (let first = 0; first < recordCount; first += 10_000) {
    const count = Math.min(10_000, recordCount - first)
    await producer.send(
      Array.from({ length: count }, (_, index) => {
        const nowMs = startMs + (first + index) * 36
        return position((first + index) % VANS, nowMs, nowMs - 500)
      }),
    )
  }
  await producer.close()
}

const quantile = (sorted: readonly number[], q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN

/** Milliseconds from sending a position to its live point being read, sorted. */
async function latencies(log: Log): Promise<number[]> {
  const seen: number[] = []
  const beganMs = Date.now()
  const tail = await log.tailTopic({
    topic: TOPICS.live.name,
    from: 'end',
    onBatch: (records) => {
      const nowMs = Date.now()
      for (const { value } of records) {
        const sentMs = JSON.parse(String(value)).data_ms as number
        // Live points of the backlog may still come.
        if (sentMs >= beganMs) seen.push(nowMs - sentMs)
      }
    },
  })
  const producer = await log.openProducer()
  const endMs = Date.now() + seconds * 1_000
  for (let van = 0; Date.now() < endMs; van = (van + 1) % VANS) {
    const nowMs = Date.now()
    await producer.send([position(van, nowMs, nowMs)])
    await new Promise((resolve) => setTimeout(resolve, SEND_EVERY_MS))
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await producer.close()
  await tail.close()
  return seen.sort((a, b) => a - b)
}

async function measure(delivery: string): Promise<void> {
  const services = await startServices({ kafka: true })
  let job: StreamProcess | undefined
  const directory = mkdtempSync(join(tmpdir(), 'km0-bench-'))
  try {
    const log = openLog({ brokers: [services.kafka.brokers], clientId: 'bench' })
    await log.ensureTopics(Object.values(TOPICS))
    await fill(log)
    job = await StreamProcess.start('positions', { ...services.environment, KM0_DELIVERY: delivery, KM0_CHECKPOINT_DIR: directory })
    const running = job
    const applied = () => running.metric('km0_stream_records_total')
    const cpuS = () => running.metric('process_cpu_seconds_total')
    await until('the first record', async () => (await applied()) > 0, 300_000)
    const [startMs, startCount, startCpuS] = [performance.now(), await applied(), await cpuS()]
    await until('all records', async () => (await applied()) >= recordCount, 600_000)
    const perSecond = (recordCount - startCount) / ((performance.now() - startMs) / 1_000)
    const cpuUs = (((await cpuS()) - startCpuS) * 1e6) / (recordCount - startCount)
    const sorted = await latencies(log)
    const [median = 0, p95 = 0, most = 0] = [0.5, 0.95, 1].map((q) => quantile(sorted, q))
    console.log(
      `${delivery.padEnd(14)} ${Math.round(perSecond)} records/s, ${cpuUs.toFixed(1)} CPU µs a record; ` +
        `from sent to read, ${sorted.length} points: median ${median} ms, p95 ${p95} ms, most ${most} ms`,
    )
  } finally {
    await job?.kill9()
    await services.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

buildStream()
for (const delivery of ['idempotent', 'transactional']) await measure(delivery)
