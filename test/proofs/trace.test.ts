// `pnpm prove:trace`: a platform of its own, without the demo; what `km0 trace` prints of one position; then the same platform with traces off.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TOPICS, TRACE_HEADER } from '@km0/contracts'
import { freePort } from '@km0/infra/embedded/ports'
import { openLog } from '@km0/transport'
import { afterAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'km0-trace-'))
const READY_WITHIN_MS = 120_000
const STEPS = [
  'km0 MQTT, until its PUBACK',
  'bridge bridge: MQTT to Kafka',
  'stream-positions stream positions: windows',
  'stream-positions stream positions: results to Kafka',
  'stream-serving stream serving: PostgreSQL',
  'dashboard dashboard: to the socket',
]

const OUTSIDE = ['KAFKA_BROKERS', 'DATABASE_URL', 'REDIS_URL', 'MQTT_URL', 'KM0_OTLP_URL']
const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OUTSIDE.includes(name)))
const running: ChildProcess[] = []

function run(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...bare, ...environment } as NodeJS.ProcessEnv })
  running.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, said: () => text, ended }
}

/** A platform that is ready, and the variables by which commands find its services. */
async function platform(environment: Readonly<Record<string, string>>) {
  const started = run(['infra/dist/launcher.js', '--data-dir', folder, '--no-demo', '--port', String(await freePort())], environment)
  const deadlineMs = performance.now() + READY_WITHIN_MS
  while (!/^Panel: http/m.test(started.said())) {
    if (started.child.exitCode !== null || performance.now() > deadlineMs) throw new Error(`not ready:\n${started.said()}`)
    await sleep(100)
  }
  const { kafkaBrokers, databaseUrl, mqttUrl } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
  const variables = { KAFKA_BROKERS: kafkaBrokers, DATABASE_URL: databaseUrl, MQTT_URL: mqttUrl }
  const stop = async () => {
    started.child.kill('SIGTERM')
    expect(await started.ended).toBe(0)
  }
  return { variables, stop }
}

async function trace(variables: Readonly<Record<string, string>>, van: string, wait: string) {
  const command = run(['packages/cli/dist/km0.js', 'trace', van, '--lat', '41.98', '--lon', '2.82', '--wait', wait], variables)
  return { code: await command.ended, text: command.said() }
}

/** Headers of every record of positions and live points whose van is this one. */
async function headersOf(brokers: string, van: string): Promise<Readonly<Record<string, string>>[]> {
  const log = openLog({ brokers: brokers.split(','), clientId: 'km0-proof' })
  const found: Readonly<Record<string, string>>[] = []
  for (const { name: topic } of [TOPICS.positions, TOPICS.live]) {
    const until = await log.endOffsets(topic)
    for await (const { records } of log.readTopic({ topic, from: await log.startOffsets(topic), until }))
      for (const { key, headers } of records) if (key === van) found.push(headers)
  }
  return found
}

afterAll(async () => {
  for (const child of running) if (child.exitCode === null) child.kill('SIGTERM')
  await sleep(500)
  rmSync(folder, { recursive: true, force: true })
})

it('one trace follows a position from MQTT through Kafka, window, PostgreSQL and socket', async () => {
  const KM0_OTLP_URL = `http://127.0.0.1:${await freePort()}`
  const { variables, stop } = await platform({ KM0_OTLP_URL })
  // The first one finds connections and code cold.
  await trace({ ...variables, KM0_OTLP_URL }, 'van-cold', '30')
  const { code, text } = await trace({ ...variables, KM0_OTLP_URL }, 'van-traced', '30')
  console.info(text)
  expect(code).toBe(0)
  const lines = text.split('\n').map((line) => line.replace(/^ *\S+ ms +\S+ ms +/, '').replaceAll(/ +/g, ' '))
  for (const step of STEPS) expect(lines).toContain(step)
  expect(text).toContain('stream serving: PostgreSQL: batch (linked)')
  const headers = await headersOf(variables.KAFKA_BROKERS, 'van-traced')
  expect(headers.length).toBeGreaterThanOrEqual(2)
  const id = /^trace ([0-9a-f]{32})/.exec(text)?.[1]
  for (const one of headers) expect(one[TRACE_HEADER]).toContain(id)
  await stop()
}, 300_000)

it('is off by default: the same message leaves no header in the log and no span', async () => {
  const { variables, stop } = await platform({})
  const KM0_OTLP_URL = `http://127.0.0.1:${await freePort()}`
  const { code, text } = await trace({ ...variables, KM0_OTLP_URL }, 'van-untraced', '5')
  expect(code).toBe(1)
  expect(text).toContain('no program has sent a span')
  const headers = await headersOf(variables.KAFKA_BROKERS, 'van-untraced')
  expect(headers.length).toBeGreaterThanOrEqual(2)
  for (const one of headers) expect(one).not.toHaveProperty(TRACE_HEADER)
  await stop()
}, 300_000)
