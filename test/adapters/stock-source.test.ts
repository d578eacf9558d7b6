import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { TOPICS } from '@km0/contracts'
import { type StockRecord, stockStream } from '@km0/fleet/stock/stock-stream'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogRecord, openLog } from '@km0/transport'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const program = join(root, 'packages', 'fleet', 'dist', 'stock-under-test.js')
const running: ChildProcess[] = []
let services: TestServices<{ kafka: true }>
let log: Log

beforeAll(async () => {
  await build({
    entryPoints: [join(root, 'packages', 'fleet', 'src', 'stock-main.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [
      {
        name: 'npm outside',
        setup(bundler) {
          bundler.onResolve({ filter: /^[^./]/ }, (wanted) =>
            wanted.kind === 'entry-point' || wanted.path.startsWith('@km0/') ? undefined : { external: true },
          )
        },
      },
    ],
  })
  services = await startServices({ kafka: true })
  log = openLog({ brokers: services.kafka.brokers.split(','), clientId: 'test' })
  await log.ensureTopics([TOPICS.stockEvents])
})

afterAll(async () => {
  for (const child of running) if (child.exitCode === null) child.kill('SIGKILL')
  await services?.stop()
  rmSync(program, { force: true })
})

function stock(args: readonly string[]): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...services.environment } })
  running.push(child)
  let output = ''
  child.stdout?.on('data', (data) => {
    output += data
  })
  child.stderr?.on('data', (data) => {
    output += data
  })
  return { child, output: () => output, ended: new Promise((resolve) => child.on('exit', resolve)) }
}

async function written(from: ReadonlyMap<number, number>): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const batch of log.readTopic({ topic: TOPICS.stockEvents.name, from })) records.push(...batch.records)
  return records
}

const settings = { seed: 4, products: 20, perSecond: 40, campaigns: true, forced: [], oddities: true, lateReplicaMs: 0, recalls: [] }
const words = ['--seed', '4', '--products', '20', '--per-second', '40']

function expected(fromMs: number, untilMs: number): StockRecord[] {
  const records: StockRecord[] = []
  for (const record of stockStream(settings, fromMs)) {
    if (record.arrivalMs >= untilMs) return records
    records.push(record)
  }
  return records
}

const asText = (timestampMs: number, key: string | null, value: string) => `${timestampMs} ${key} ${value}`
const inLog = (records: LogRecord[]) => records.map((record) => asText(record.timestampMs, record.key, String(record.value))).sort()
const inStream = (records: StockRecord[]) => records.map((record) => asText(record.arrivalMs, record.key, record.value)).sort()

describe('the ordering service', () => {
  it('writes a span once, each record under its arrival, in order within each partition, to the partitions that it may use', async () => {
    const startMs = Date.now() - 3_600_000
    const before = await log.endOffsets(TOPICS.stockEvents.name)
    const { output, ended } = stock([...words, '--start-ms', String(startMs), '--duration-s', '120', '--partitions', '0,1,3,4'])
    expect(await ended, output()).toBe(0)
    const records = await written(before)
    // At night less is sold.
    expect(records.length).toBeGreaterThan(100)
    expect(inLog(records)).toEqual(inStream(expected(startMs, startMs + 120_000)))
    expect([...new Set(records.map((record) => record.partition))].sort()).toEqual([0, 1, 3, 4])
    const newest = new Map<number, number>()
    for (const record of records) {
      expect(record.timestampMs).toBeGreaterThanOrEqual(newest.get(record.partition) ?? 0)
      newest.set(record.partition, record.timestampMs)
    }
  })

  it('catches up, stops on SIGTERM, and goes on where it was', async () => {
    const before = await log.endOffsets(TOPICS.stockEvents.name)
    const state = join(services.dataDir, 'stock.json')
    const args = [...words, '--catch-up-minutes', '2', '--state', state]
    for (let round = 0; round < 2; round += 1) {
      const beganMs = Date.now()
      const run = stock(args)
      const newestMs = async () => Math.max(...(await written(before)).map(({ timestampMs }) => timestampMs))
      // What it writes after its beginning is of the present.
      await expect.poll(newestMs, { timeout: 60_000, interval: 500 }).toBeGreaterThan(beganMs)
      run.child.kill('SIGTERM')
      expect(await run.ended, run.output()).toBe(0)
    }
    const records = (await written(before)).sort((a, b) => a.timestampMs - b.timestampMs)
    const lastMs = records.at(-1)!.timestampMs
    // When the first run began is known to it alone: what lies between the first and the last record is compared.
    const fromMs = records[0]!.timestampMs
    expect(inLog(records.filter((record) => record.timestampMs > fromMs && record.timestampMs < lastMs))).toEqual(
      inStream(expected(fromMs + 1, lastMs)),
    )
  })
})
