import { execFile, execFileSync } from 'node:child_process'
import { decodeSource, TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogProducer, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildStream, StreamProcess, until } from '../chaos/stream-process.ts'
import { readAll } from '../e2e/stock-log.ts'

const WINDOW_MS = 300_000
const windowMs = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS - 2 * WINDOW_MS

let services: TestServices<{ kafka: true }>
let environment: Record<string, string>
let log: Log
let producer: LogProducer
const running = new Set<StreamProcess>()
beforeAll(async () => {
  buildStream()
  execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { stdio: 'inherit' })
  services = await startServices({ kafka: true })
  environment = {
    ...services.environment,
    KM0_CHECKPOINTS: `${services.dataDir}/checkpoints`,
    KM0_CHECKPOINT_INTERVAL_MS: '200',
    // No heartbeats: events alone move the clocks.
    KM0_STOCK_IDLE_MS: '3600000',
  }
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  await log.ensureTopics(Object.values(TOPICS), { [TOPICS.stockEvents.name]: { partitions: 2 } })
  producer = await log.openProducer()
})
afterAll(async () => {
  await Promise.all([...running].map((role) => role.kill9()))
  await producer?.close()
  await services?.stop()
})

async function start(role: string): Promise<StreamProcess> {
  const started = await StreamProcess.start(role, environment)
  running.add(started)
  return started
}

function savepoint(words: string): Promise<{ code: number; out: string; said: string }> {
  return new Promise((resolve) => {
    const args = ['packages/cli/dist/km0.js', 'savepoint', ...words.split(' '), '--pipeline', 'stock-windows']
    execFile(process.execPath, args, { env: { ...process.env, ...environment } }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    )
  })
}

let events = 0
async function sell(product: string, stock: number, partition: number, minute: number): Promise<void> {
  events += 1
  const eventMs = windowMs + minute * 60_000
  const dades = { producte: product, mercat: 'girona', estoc_actual: stock }
  const value = JSON.stringify({ tipus: 'estoc.actualitzat', id: `event-${events}`, data_ms: eventMs, dades })
  await producer.send([{ topic: TOPICS.stockEvents.name, key: null, value, timestampMs: eventMs + 500, partition }])
}

async function alerts(): Promise<{ value: string; epoch: number }[]> {
  const records = await readAll(log, TOPICS.stockAlerts.name)
  return records.map(({ value, headers }) => ({ value: String(value), epoch: decodeSource(headers)?.epoch ?? 0 }))
}

describe('a savepoint of the windows of stock', () => {
  it('is put back, and the same alert is told again under the next epoch', async () => {
    const shuffle = await start('stock-shuffle')
    const first = await start('stock-windows')
    await sell('llet', 9, 1, 1)
    let isMade = false
    const making = savepoint('create half --wait 60').finally(() => {
      isMade = true
    })
    while (!isMade) {
      for (const partition of [0, 1]) await sell('pa', 50, partition, 2)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const made = await making
    expect(made.out, made.said).toMatch(/^savepoint half of stock-windows: epoch 1, 6 partitions/)
    await sell('llet', 7, 0, 3)
    for (const partition of [0, 1]) await sell('pa', 50, partition, 9)
    await until('the alert is told', async () => (await alerts()).length === 1)
    running.delete(first)
    expect(await first.stop()).toBe(0)

    const other = await savepoint('restore half --partitions 9')
    expect(other).toMatchObject({ code: 2, said: expect.stringMatching(/can be restored into 6 only\. .*km0 stock restart/) })
    const restored = await savepoint('restore half')
    expect(restored.out, restored.said).toMatch(/epoch 2 \(restore 1\)/)
    const second = await start('stock-windows')
    await until('the alert is told again', async () => (await alerts()).length === 2)
    const [one, again] = await alerts()
    expect(again).toEqual({ value: one?.value, epoch: 2 })
    expect(JSON.parse(one?.value ?? '')).toMatchObject({ producte: 'llet', estoc_minim: 7, actualitzacions: 2 })
    for (const role of [second, shuffle]) {
      running.delete(role)
      expect(await role.stop()).toBe(0)
    }
  })
})
