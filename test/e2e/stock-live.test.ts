// The stock pipeline from end to end: 6 source partitions of which 2 never receive a record, both tasks killed in mid-run.
import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogProducer, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildStream, StreamProcess, until } from '../chaos/stream-process.ts'
import { alertsOf, asOracleLog, hasPython, mergedLog, oracle, readAll, readShuffled, shopEvents } from './stock-log.ts'

const MINUTE_MS = 60_000
const SOURCES = 6

let services: TestServices<{ kafka: true }>
let environment: Record<string, string>
let log: Log
let producer: LogProducer
const running = new Set<StreamProcess>()

beforeAll(async () => {
  buildStream()
  services = await startServices({ kafka: true })
  environment = {
    ...services.environment,
    KM0_DATA_DIR: services.dataDir,
    KM0_CHECKPOINT_INTERVAL_MS: '700',
    KM0_STOCK_IDLE_MS: '4000',
    KM0_LOG_LEVEL: 'info',
  }
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'km0-test' })
  await log.ensureTopics(Object.values(TOPICS))
  producer = await log.openProducer()
})
afterAll(async () => {
  await Promise.all([...running].map((role) => role.kill9()))
  await producer?.close()
  await services?.stop()
})

async function start(role: 'stock-shuffle' | 'stock-windows', more: Record<string, string> = {}): Promise<StreamProcess> {
  const started = await StreamProcess.start(role, { ...environment, ...more })
  running.add(started)
  return started
}

async function kill(role: StreamProcess): Promise<void> {
  running.delete(role)
  await role.kill9()
}

/** Sends in order of arrival, so fast that no source is silent for long. */
async function send(records: readonly OutRecord[], overMs: number): Promise<void> {
  const pieces = 20
  const size = Math.ceil(records.length / pieces)
  for (let at = 0; at < records.length; at += size) {
    await producer.send(records.slice(at, at + size))
    await sleep(overMs / pieces)
  }
}

/** All source partitions have been found silent after what was sent, and all targets have closed what is older. */
async function untilClosed(windows: StreamProcess, endMs: number): Promise<void> {
  await until(
    'every partition of the shuffle has passed the end of the events',
    async () => {
      const seconds = await Promise.all(
        [...Array(SOURCES).keys()].map((p) => windows.metric('km0_stock_windows_watermark_seconds', `partition="${p}"`)),
      )
      return seconds.every((value) => value * 1000 >= endMs)
    },
    60_000,
  )
}

describe('low stock, live', () => {
  let events: OutRecord[]
  // The last window ends long enough ago for a heartbeat at the present to close it.
  const toMs = Math.floor((Date.now() - 4 * MINUTE_MS) / (5 * MINUTE_MS)) * 5 * MINUTE_MS
  const fromMs = toMs - 40 * MINUTE_MS

  it('goes on through kill -9 of either task, with two sources that never had a record', async () => {
    events = shopEvents({ seed: 7, events: 1_500, fromMs, toMs, partitions: [0, 1, 2, 3], replicaDelayMs: 40_000 })
    let shuffle = await start('stock-shuffle')
    let windows = await start('stock-windows')
    const third = Math.floor(events.length / 3)
    await send(events.slice(0, third), 3_000)
    await kill(shuffle)
    await send(events.slice(third, 2 * third), 1_500)
    shuffle = await start('stock-shuffle')
    await until('the shuffle works again', async () => (await shuffle.metric('km0_stock_shuffle_records_total', 'accepted')) > 0)
    await kill(windows)
    await send(events.slice(2 * third), 3_000)
    windows = await start('stock-windows')
    await untilClosed(windows, toMs)
    expect(await shuffle.metric('km0_stock_shuffle_own_total', 'heartbeat')).toBeGreaterThan(0)
    expect(await shuffle.metric('km0_stock_shuffle_lost_states_total')).toBe(0)
    expect((await windows.health()).status).toBe('ok')
    await shuffle.stop()
    await windows.stop()
    running.clear()
    const late = await readAll(log, TOPICS.stockLate.name)
    expect(late).toHaveLength(0)
  })

  it('tells every target the watermark of every source, in records that follow each other', async () => {
    const shuffled = await readShuffled(log)
    const sent = events.filter((event) => String(event.value).includes('estoc')).length
    const copies = shuffled.filter(({ headers, record }) => headers.number === null && record.key !== null)
    const places = new Set(copies.map(({ headers }) => `${headers.sourcePartition}/${headers.sourceOffset}`))
    const source = [...(await log.endOffsets(TOPICS.stockEvents.name)).values()].reduce((sum, end) => sum + end, 0)
    console.log(
      `${events.length} records sent, ${source} in the source, ${sent} events, ${places.size} shuffled, ${copies.length - places.size} again`,
    )
    expect(places.size).toBe(sent)
    for (let target = 0; target < SOURCES; target += 1) {
      const mine = shuffled.filter((entry) => entry.target === target)
      for (let source = 0; source < SOURCES; source += 1) {
        const of = mine.filter(({ headers }) => headers.sourcePartition === source)
        expect(String(of[0]?.record.value), `first record of source ${source} in target ${target}`).toContain('"parametres"')
        expect(of[0]?.headers.sourcePartitions).toBe(SOURCES)
        const places = of.map(({ headers }) => headers.sourceOffset)
        expect(places).toEqual([...places].sort((a, b) => a - b))
      }
    }
  })

  it.skipIf(!hasPython)('has the alerts of the oracle over the merged internal log, and none that a late replica has moved', async () => {
    const alerts = await alertsOf(log)
    const merged = mergedLog(await readShuffled(log))
    expect(alerts.size).toBeGreaterThan(20)
    expect(alerts).toEqual(oracle('live', merged, SOURCES).alerts)
    // Each event once, at its own time: what the shops really told.
    expect(alerts).toEqual(oracle('batch', asOracleLog(dropTwins(events)), 1).alerts)
  })
})

/** The first telling of each event, at the time of the event: nothing is late in it. */
function dropTwins(records: readonly OutRecord[]): OutRecord[] {
  const byText = new Map(records.map((record) => [String(record.value), record]))
  return [...byText.values()].map((record) => {
    const { data_ms } = JSON.parse(String(record.value)) as { data_ms?: number }
    return data_ms === undefined ? record : { ...record, partition: 0, timestampMs: data_ms }
  })
}
