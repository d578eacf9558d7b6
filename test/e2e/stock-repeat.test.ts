// What is repeated changes nothing, partitions may be added, settings change through the log or as a new version.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_STOCK_SETTINGS, EVERYTHING, TOPICS } from '@km0/contracts'
import { StockWindowsTask } from '@km0/pipelines'
import { openStockServing, type StockServing } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogProducer, openLog } from '@km0/transport'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildStream, StreamProcess, until } from '../chaos/stream-process.ts'
import { alertsOf, readAll, readShuffled } from './stock-log.ts'

const WINDOW_MS = 300_000
/** Two windows ago: a heartbeat at the present closes it at once. */
const windowMs = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS - 2 * WINDOW_MS

let services: TestServices<{ kafka: true; postgres: true }>
let environment: Record<string, string>
let log: Log
let producer: LogProducer
let store: StockServing
let running: StreamProcess[] = []

beforeAll(async () => {
  buildStream()
  execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { stdio: 'inherit' })
  services = await startServices({ kafka: true, postgres: true })
  environment = {
    ...services.environment,
    KM0_DATA_DIR: services.dataDir,
    KM0_STOCK_IDLE_MS: '1500',
    KM0_STOCK_TOPIC_CHECK_MS: '1000',
    KM0_CHECKPOINT_INTERVAL_MS: '500',
  }
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'km0-test' })
  await log.ensureTopics(Object.values(TOPICS), { [TOPICS.stockEvents.name]: { partitions: 2 } })
  producer = await log.openProducer()
  store = openStockServing({ databaseUrl: services.environment.DATABASE_URL ?? '', applicationName: 'test' })
})
afterEach(() => Promise.all(running.splice(0).map((role) => role.kill9())))
afterAll(async () => {
  await producer?.close()
  await store?.close()
  await services?.stop()
})

async function start(role: 'stock-shuffle' | 'stock-windows' | 'serving', more: Record<string, string> = {}): Promise<StreamProcess> {
  const started = await StreamProcess.start(role, { ...environment, ...more })
  running.push(started)
  return started
}

async function end(role: StreamProcess, how: 'stop' | 'kill9'): Promise<void> {
  running = running.filter((other) => other !== role)
  await role[how]()
}

/** One event of a product, `minute` minutes after the start of the window. */
async function sell(product: string, stock: number, partition: number, minute: number, id = `${product}-${minute}`): Promise<void> {
  const eventMs = windowMs + minute * 60_000
  const dades = { producte: product, mercat: 'girona', estoc_actual: stock }
  const value = JSON.stringify({ tipus: 'estoc.actualitzat', id, data_ms: eventMs, dades })
  await producer.send([{ topic: TOPICS.stockEvents.name, key: null, value, timestampMs: eventMs + 500, partition }])
}

const recordsOf = async (topic: string, product: string) =>
  (await readAll(log, topic)).filter(({ key }) => key === `${windowMs}|${product}|girona`).map(({ value }) => String(value))
const alertsFor = (product: string) => recordsOf(TOPICS.stockAlerts.name, product)

/** Serving stores it, is killed, applies what it had not told Kafka of again; somebody has acknowledged meanwhile. */
async function seenOnceInTheStore(): Promise<void> {
  const read = () => store.read(EVERYTHING, { endedAfterMs: 0, noticedAfterMs: 0, limit: 100 })
  const first = await start('serving')
  await until('the episode is stored', async () => (await read().catch(() => null))?.episodes.length === 1)
  const actor = { id: 'local:1', name: 'Núria', roles: ['dispatcher'] }
  expect(await store.acknowledge(EVERYTHING, { product: 'llet', market: 'girona', startMs: windowMs, actor, note: 'ja ve', atMs: 1 })).toBe(
    true,
  )
  await end(first, 'kill9')
  const second = await start('serving')
  // Topics are caught up with one by one, and a lag is 0 before it is first asked for: the newest stock may come last.
  await until('it is up to date', async () => (await second.metric('km0_stock_serving_lag_records')) === 0 && (await read()).low.length > 0)
  const { episodes, notices, low } = await read()
  expect(episodes).toMatchObject([{ product: 'llet', endMs: null, minimum: 7, acknowledgement: { note: 'ja ve' } }])
  expect(notices.map(({ reason, stock }) => [reason, stock])).toEqual([['begun', 7]])
  expect(low).toMatchObject([{ product: 'llet', stock: 7, threshold: 10 }])
  await end(second, 'stop')
}

describe('what is repeated', () => {
  it('is the same key and value after a crash between the emission and the next checkpoint: the consumer sees one alert', async () => {
    const shuffle = await start('stock-shuffle')
    const first = await start('stock-windows', { KM0_CHECKPOINT_INTERVAL_MS: '600000' })
    await sell('llet', 12, 0, 1)
    await sell('llet', 7, 1, 2)
    await until('the alert is there', async () => (await alertsFor('llet')).length === 1)
    await end(first, 'kill9')
    const second = await start('stock-windows')
    await until('the alert was emitted again', async () => (await alertsFor('llet')).length === 2)
    const [one, other] = await alertsFor('llet')
    expect(other).toBe(one)
    expect(JSON.parse(one!)).toEqual({
      producte: 'llet',
      mercat: 'girona',
      inici_ms: windowMs,
      fi_ms: windowMs + WINDOW_MS,
      estoc_minim: 7,
      actualitzacions: 2,
    })
    const episodes = await recordsOf(TOPICS.stockEpisodes.name, 'llet')
    expect(new Set(episodes).size).toBe(1)
    expect(JSON.parse(episodes[0]!)).toMatchObject({ fi_ms: null, estoc_minim: 7, avisos: [{ motiu: 'comenca', estoc: 7 }] })
    expect([...(await alertsOf(log)).keys()]).toEqual([`${windowMs}|llet|girona`])
    await seenOnceInTheStore()
    await end(second, 'stop')
    await end(shuffle, 'stop')
  })
})

describe('source partitions added while running', () => {
  it('are noticed, take part, and stand in the log, so that a replay agrees', async () => {
    const shuffle = await start('stock-shuffle')
    const windows = await start('stock-windows')
    const admin = new Kafka({ clientId: 'km0-test-admin', brokers: [services.kafka.brokers], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    await admin.createPartitions({ topicPartitions: [{ topic: TOPICS.stockEvents.name, count: 4 }] })
    await admin.disconnect()
    // A producer drops what is for a partition that it does not know yet.
    await producer.close()
    producer = await log.openProducer()
    await until('both new partitions are told', async () => {
      const told = (await readShuffled(log)).filter(({ headers }) => headers.sourcePartition >= 2 && headers.sourcePartitions === 4)
      return new Set(told.map(({ headers, target }) => `${headers.sourcePartition} ${target}`)).size === 12
    })
    // A source that was added counts from its first heartbeat; its events are late where the others have been.
    const present = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS
    const value = JSON.stringify({
      tipus: 'estoc.actualitzat',
      data_ms: present,
      dades: { producte: 'pa', mercat: 'girona', estoc_actual: 3 },
    })
    await producer.send([{ topic: TOPICS.stockEvents.name, key: null, value, timestampMs: Date.now(), partition: 3 }])
    await until('the newest stock of the new source is known', async () =>
      (await readAll(log, TOPICS.stockLive.name)).some(({ key }) => key === 'pa|girona'),
    )
    expect(await shuffle.metric('km0_stock_shuffle_source_partitions')).toBe(4)
    await end(windows, 'kill9')
    await end(shuffle, 'kill9')
    const { delayMs: _delay, allowedLatenessMs: _allowed, ...rules } = DEFAULT_STOCK_SETTINGS
    const shuffled = await readShuffled(log)
    const replayed = new Map<string, string>()
    for (let target = 0; target < 6; target += 1) {
      const task = new StockWindowsTask(rules)
      for (const { record, headers } of shuffled.filter((entry) => entry.target === target)) {
        const text = String(record.value)
        task.onRecord(record.offset, headers, text, record.value!.length, true)
        for (const { output, key, value: row } of task.drain()) if (output === 'alertes') replayed.set(key!, row)
      }
      expect(task.sourcePartitions).toBe(4)
    }
    const live = new Map((await readAll(log, TOPICS.stockAlerts.name)).map(({ key, value: row }) => [key ?? '', String(row)]))
    expect(live).toEqual(replayed)
  })
})

describe('settings', () => {
  it('that are wrong stop the start with the line and the reason', async () => {
    const file = join(services.dataDir, 'km0.jsonc')
    writeFileSync(file, '{\n  // minutes\n  "stock": { "threshold": "many" }\n}\n')
    const { code, output } = await StreamProcess.runToEnd('stock-windows', { ...environment, KM0_SETTINGS_FILE: file })
    expect(code).toBe(2)
    expect(output).toContain(`${file}:3: stock.threshold: Invalid input: expected number`)
  })

  it('delay and allowed lateness reach the log as a record in every target, and every checkpoint goes on', async () => {
    const shuffle = await start('stock-shuffle', { KM0_STOCK_DELAY_MS: '60000', KM0_STOCK_ALLOWED_LATENESS_MS: '0' })
    await until('the new settings are in every target', async () => {
      const told = (await readShuffled(log)).filter(({ record }) => String(record.value).includes('"retard_ms":60000,"marge_ms":0'))
      return new Set(told.map(({ headers, target }) => `${headers.sourcePartition} ${target}`)).size === 24
    })
    const windows = await start('stock-windows', { KM0_STOCK_DELAY_MS: '60000', KM0_STOCK_ALLOWED_LATENESS_MS: '0' })
    await until(
      'checkpoints are gone on from',
      async () => (await windows.metric('km0_stock_windows_restores_total', 'from="checkpoint"')) > 0,
    )
    // Late by its own source: every source has been silent up to the present.
    await sell('sal', 1, 0, 3)
    await until('a late event is reported', async () => (await windows.metric('km0_stock_late_total')) === 1)
    const [late] = await readAll(log, TOPICS.stockLate.name)
    expect(late?.key).toBe('sal|girona')
    expect(JSON.parse(String(late?.value))).toEqual({ motiu: 'tard', data_ms: windowMs + 180_000, finestres_tancades: 1 })
    await end(windows, 'stop')
    await end(shuffle, 'stop')
  })

  it('another threshold is a new version: the old state is refused with the way on, which then works', async () => {
    const { code, output } = await StreamProcess.runToEnd('stock-windows', { ...environment, KM0_STOCK_THRESHOLD: '5' })
    expect(code).toBe(1)
    expect(output).toMatch(/threshold: 10 there, 5 here/)
    expect(output).toMatch(/set stock\.version to 2 in the settings file \(or KM0_STOCK_VERSION=2\)/)
    // A partition is begun when its next record comes.
    await start('stock-shuffle')
    const windows = await start('stock-windows', { KM0_STOCK_THRESHOLD: '5', KM0_STOCK_VERSION: '2' })
    await until('the new version has read the log', async () => {
      const live = await readAll(log, TOPICS.stockLive.name)
      return live.some(({ key, value }) => key === 'llet|girona' && (JSON.parse(String(value)) as { llindar: number }).llindar === 5)
    })
    await until('it has passed the window', async () => (await windows.metric('km0_stock_windows_lag_records')) === 0)
    expect(await alertsFor('llet')).toHaveLength(2)
    const epochs = new Set((await readAll(log, TOPICS.stockLive.name)).map(({ headers }) => headers.epoca))
    expect(epochs).toEqual(new Set(['1', '2']))
    await end(windows, 'stop')
  })
})

describe('a shuffle that was frozen and comes back', () => {
  it('writes nothing beside the one that took over: no event stands twice in the log', async () => {
    const frozen = await start('stock-shuffle')
    await until('it works', async () => (await frozen.metric('km0_stock_shuffle_own_total', 'heartbeat')) > 0)
    frozen.freeze()
    const second = await start('stock-shuffle')
    for (let minute = 0; minute < 4; minute += 1)
      for (let p = 0; p < 4; p += 1) await sell('formatge', 50 + minute, p, minute, `f-${p}-${minute}`)
    const eventsOf = async () => (await readShuffled(log)).filter(({ record }) => String(record.value).includes('formatge'))
    await until('the second has them all', async () => (await eventsOf()).length === 16)
    frozen.thaw()
    // It tries to go on and is fenced, or hears of the rebalance first; either way it works again as a member like any other.
    await until('the first works again', async () => {
      const takenOver = frozen.output.split('source partition taken over').length - 1
      return takenOver > 4 || (await frozen.metric('km0_stock_shuffle_failures_total', 'fenced')) > 0
    })
    console.log(`fenced ${await frozen.metric('km0_stock_shuffle_failures_total', 'fenced')} times`)
    for (let p = 0; p < 4; p += 1) await sell('formatge', 70, p, 4, `f-${p}-4`)
    await until('the log goes on', async () => (await eventsOf()).length >= 20)
    const places = (await eventsOf()).map(({ headers }) => `${headers.sourcePartition}/${headers.sourceOffset}`)
    expect(places).toHaveLength(20)
    expect(new Set(places).size).toBe(20)
    await end(second, 'stop')
  })
})

describe('km0 stock restart', () => {
  const restart = () =>
    spawnSync(process.execPath, ['packages/cli/dist/km0.js', 'stock', 'restart', '--yes'], {
      env: { ...process.env, ...environment },
      encoding: 'utf8',
    })

  it('begins a new log of stock; a new version computes from it what the old one had', async () => {
    const before = await alertsOf(log)
    const shuffle = await start('stock-shuffle')
    expect(restart()).toMatchObject({ status: 2, stderr: expect.stringContaining('stop them first') })
    await end(shuffle, 'stop')
    expect(restart()).toMatchObject({ status: 0 })
    await start('stock-shuffle')
    const windows = await start('stock-windows', { KM0_STOCK_VERSION: '3' })
    await until('everything is shuffled and windowed again', async () => {
      const live = await readAll(log, TOPICS.stockLive.name)
      return live.some(({ key, headers }) => key === 'formatge|girona' && headers.epoca === '3')
    })
    await until('it has caught up', async () => (await windows.metric('km0_stock_windows_lag_records')) === 0)
    expect(await alertsOf(log)).toEqual(before)
  })
})
