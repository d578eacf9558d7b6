import { TOPICS } from '@km0/contracts'
import type { Log, OutRecord } from '@km0/transport'
import { newTopic } from './live-log.ts'

const RESULT =
  '{"tipus":"distancia","repartidor":"furgoneta-100","inici_ms":1789380000000,"fi_ms":1789380300000,"distancia_mm":1234567,"posicions":62,"salts":0}'
const SLICE_RESULTS = 800

/** What the client alone costs (with our decoder of fetches): fetching without looking at anything, and writing as many results as the day has. Prints both. */
export async function measureFloor(log: Log, records: number): Promise<number> {
  const fetched = await timed(() => fetchAll(log, records))
  console.log(`fetch, nothing decoded: ${perRecord(fetched, records)}`)
  const results = Math.round(records / 12)
  await newTopic(log, 'bench.floor')
  const written = await timed(() => writeAll(log, results))
  console.log(
    `producer alone, ${results} results: ${perRecord(written, results)}; ${((written.cpuSeconds * 1e6) / records).toFixed(2)} CPU µs a position`,
  )
  return 0
}

interface Timed {
  readonly seconds: number
  readonly cpuSeconds: number
}

async function timed(work: () => Promise<void>): Promise<Timed> {
  const [cpu, startMs] = [process.cpuUsage(), performance.now()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - startMs) / 1_000, cpuSeconds: (user + system) / 1e6 }
}

function perRecord({ seconds, cpuSeconds }: Timed, records: number): string {
  return `${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} CPU s, ${((cpuSeconds * 1e6) / records).toFixed(2)} CPU µs a record, ${Math.round(records / seconds).toLocaleString('en')} records/s`
}

async function fetchAll(log: Log, records: number): Promise<void> {
  let seen = 0
  for await (const batch of log.readTopic({ topic: TOPICS.positions.name })) seen += batch.records.length
  if (seen !== records) throw new Error(`${seen} of ${records} records were fetched`)
}

async function writeAll(log: Log, results: number): Promise<void> {
  const producer = await log.openProducer()
  for (let first = 0; first < results; first += SLICE_RESULTS) {
    const batch: OutRecord[] = Array.from({ length: Math.min(SLICE_RESULTS, results - first) }, (_, index) => ({
      topic: 'bench.floor',
      partition: 0,
      key: `distancia|furgoneta-${index}|${first}`,
      value: RESULT,
      headers: { origen: '1|0|123456' },
      timestampMs: 1_789_380_000_000,
    }))
    await producer.send(batch)
  }
  await producer.close()
}
