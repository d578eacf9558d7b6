// Microseconds a record of the windowing core: 2.4 M positions of 140 vans, a day of the fleet, decoded and applied in one process.
// `npx tsx test/bench/core.ts [--records N]`. To see where the time goes: bundle it with esbuild and run it with `node --cpu-prof`.
import { parseArgs } from 'node:util'
import { DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS, readPositionRecord } from '@km0/contracts'
import { createPositionsBatch, createPositionsHost, createStockHost } from '@km0/pipelines'

const { values } = parseArgs({ options: { records: { type: 'string', default: '2400000' } } })
const recordCount = Number(values.records)
const VANS = 140
const START_MS = 1_789_380_000_000
const STEP_MS = 36

/** Small and seeded: the same day each time. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

/** A log as bytes, as Kafka gives it. */
interface Log {
  readonly bytes: Buffer
  /** Where each value ends in `bytes`. */
  readonly ends: Float64Array
  readonly timestamps: Float64Array
}

const CHUNK = 1000
const LONGEST_VALUE_BYTES = 200

function buildLog(count: number, valueAt: (i: number, timestampMs: number) => string): Log {
  const bytes = Buffer.allocUnsafe(count * LONGEST_VALUE_BYTES)
  const ends = new Float64Array(count)
  let end = 0
  const timestamps = Float64Array.from({ length: count }, (_, i) => START_MS + i * STEP_MS)
  for (let i = 0; i < count; i += 1) {
    end += bytes.write(valueAt(i, timestamps[i]!), end, 'latin1')
    ends[i] = end
  }
  return { bytes, ends, timestamps }
}

/** Each van sends about every 5 s; 95 % come within 2 s, 1 % after the delay. */
function positions(): Log {
  const random = randomNumbers(1)
  const lat = Array.from({ length: VANS }, () => 41.9 + random() / 10)
  const lon = Array.from({ length: VANS }, () => 2.8 + random() / 10)
  return buildLog(recordCount, (_, timestampMs) => {
    const van = Math.floor(random() * VANS)
    lat[van]! += (random() - 0.5) / 2000
    lon[van]! += (random() - 0.5) / 2000
    const luck = random()
    const lateMs = luck < 0.95 ? random() * 2000 : luck < 0.99 ? random() * 45_000 : random() * 240_000
    const place = `"lat":${lat[van]!.toFixed(6)},"lon":${lon[van]!.toFixed(6)}`
    return `{"repartidor":"furgoneta-${van}",${place},"data_ms":${Math.floor(timestampMs - lateMs)}}`
  })
}

function stock(): Log {
  const random = randomNumbers(2)
  return buildLog(recordCount / 4, (i, timestampMs) => {
    const eventMs = Math.floor(timestampMs - random() * 40_000)
    const what = `"producte":"p${Math.floor(random() * 200)}","mercat":"m${Math.floor(random() * 12)}"`
    return `{"tipus":"estoc.actualitzat","id":"e${i}","data_ms":${eventMs},"dades":{${what},"estoc_actual":${Math.floor(random() * 60)},"delta":-1,"replica":"inv-bcn"}}`
  })
}

type Feed = (offset: number, timestampMs: number, text: string) => void

/** Feeds a log in chunks, as a consumer gets it; making text of bytes is not measured. */
function measure(name: string, log: Log, feed: Feed, after?: () => string): void {
  const { ends, bytes, timestamps } = log
  const texts: string[] = []
  let wallMs = 0
  let cpuUs = 0
  const timed = <T>(work: () => T): T => {
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    const result = work()
    wallMs += performance.now() - startMs
    const { user, system } = process.cpuUsage(cpu)
    cpuUs += user + system
    return result
  }
  for (let first = 0; first < ends.length; first += CHUNK) {
    const count = Math.min(CHUNK, ends.length - first)
    for (let i = 0; i < count; i += 1) texts[i] = bytes.toString('latin1', first + i === 0 ? 0 : ends[first + i - 1], ends[first + i])
    timed(() => {
      for (let i = 0; i < count; i += 1) feed(first + i, timestamps[first + i]!, texts[i]!)
    })
  }
  const note = timed(() => after?.() ?? '')
  const perRecord = (us: number) => (us / ends.length).toFixed(3)
  console.log(`${name.padEnd(36)} ${perRecord(wallMs * 1000)} µs a record, ${perRecord(cpuUs)} µs of CPU ${note}`)
}

function live(name: string, log: Log, livePoints: boolean, coalesceLivePoints = false): void {
  const host = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, livePoints }, null, { coalesceLivePoints })
  let emitted = 0
  const feed: Feed = (offset, timestampMs, text) => {
    host.onRecord(0, offset, timestampMs, null, text, text.length, true)
    if (offset % 500 === 0) emitted += host.drain().length
  }
  measure(name, log, feed, () => `(${emitted + host.drain().length} results, snapshot ${Math.round(host.snapshot().length / 1024)} KiB)`)
}

const input = positions()
measure('decoding alone', input, (_offset, _timestampMs, text) => readPositionRecord(text, text.length, true, true))
measure('JSON.parse alone', input, (_offset, _timestampMs, text) => JSON.parse(text))
live('positions live, without live points', input, false)
live('positions live, newest live points', input, true, true)
live('positions live, with live points', input, true)
const batch = createPositionsBatch()
measure(
  'positions batch',
  input,
  (offset, timestampMs, text) => batch.onRecord(0, offset, timestampMs, null, text, text.length, true),
  () => `(${batch.rows().length} rows)`,
)
const stockInput = stock()
const stockHost = createStockHost(DEFAULT_STOCK_SETTINGS, 1)
measure(
  'stock live',
  stockInput,
  (offset, timestampMs, text) => stockHost.onRecord(0, offset, timestampMs, null, text, text.length, true),
  () => `(${stockHost.drain().length} results)`,
)
