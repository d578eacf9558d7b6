import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_RATES } from '@km0/fleet/faults/kinds'
import { fleetStream } from '@km0/fleet/messages/fleet-stream'
import { type Broker, startBroker } from '@km0/infra/embedded/broker'
import { build } from 'esbuild'
import mqtt, { type MqttClient } from 'mqtt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const capmetro = join(root, '..', 'shared', 'real', 'capmetro-140vans-2017-03-16.jsonl')
const folder = mkdtempSync(join(tmpdir(), 'km0-fleet-'))
const program = join(root, 'packages', 'fleet', 'dist', 'under-test.js')

let broker: Broker
const running: ChildProcess[] = []
const clients: MqttClient[] = []

beforeAll(async () => {
  const external = {
    name: 'npm outside',
    setup: (b: import('esbuild').PluginBuild) =>
      b.onResolve({ filter: /^[^./]/ }, (a) => (a.kind === 'entry-point' || a.path.startsWith('@km0/') ? undefined : { external: true })),
  }
  const entry = join(root, 'packages', 'fleet', 'src', 'main.ts')
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [external],
  })
  broker = await startBroker({ dataDir: join(folder, 'mqtt') })
})

afterEach(async () => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  for (const client of clients.splice(0)) await client.endAsync(true)
})

afterAll(async () => {
  await broker?.stop()
  rmSync(folder, { recursive: true, force: true })
  rmSync(program, { force: true })
})

interface Heard {
  readonly topic: string
  readonly text: string
}

/** A subscriber with a persistent session that hears everything of ours, in order. */
async function listen(): Promise<Heard[]> {
  const heard: Heard[] = []
  const client = mqtt.connect(broker.url, { clientId: `listener-${Math.random()}`, clean: false, reconnectPeriod: 50 })
  client.on('error', () => {})
  client.on('message', (topic, payload) => heard.push({ topic, text: payload.toString() }))
  clients.push(client)
  await client.subscribeAsync('km0/#', { qos: 1 })
  return heard
}

function fleet(
  args: readonly string[],
  environment: Record<string, string> = {},
): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, MQTT_URL: broker.url, ...environment } })
  running.push(child)
  let output = ''
  child.stdout?.on('data', (data) => (output += data))
  child.stderr?.on('data', (data) => (output += data))
  return { child, output: () => output, ended: new Promise((resolve) => child.on('exit', resolve)) }
}

async function until(condition: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error(`not in ${timeoutMs} ms: ${what}`)
    await sleep(20)
  }
}

const isTick = (heard: Heard) => heard.topic === 'km0/rellotge'
const tickMs = (heard: Heard) => (JSON.parse(heard.text) as { ara_ms: number }).ara_ms
const eventMs = (heard: Heard) => (JSON.parse(heard.text) as { data_ms: number }).data_ms

function expectTicksInOrder(heard: readonly Heard[]): void {
  const ticks = heard.filter(isTick).map(tickMs)
  for (let at = 1; at < ticks.length; at += 1) {
    expect(ticks[at]!).toBeGreaterThanOrEqual(ticks[at - 1]!)
    expect(ticks[at]! - ticks[at - 1]!).toBeLessThanOrEqual(1_000)
  }
}

const hasCapmetro = existsSync(capmetro)
if (!hasCapmetro) console.log('skipped: the recorded day of 140 vehicles is not beside the repository (../shared/real)')

describe('the player', () => {
  it.each([
    ['a folder', folder, 'cannot be read'],
    ['a file that is not there', join(folder, 'absent.jsonl'), 'cannot be read'],
    ['a file without a fix', '/dev/null', 'holds no fix'],
  ])('says in a line why it cannot play %s, with the code of wrong settings', async (_what, path, reason) => {
    const { output, ended } = fleet(['--play', path])
    expect(await ended).toBe(2)
    expect(output()).toContain(reason)
    expect(output()).not.toContain('    at ')
  })

  it.skipIf(!hasCapmetro)('plays 24,996 fixes once and in order, each under its own arrival, and drains', async () => {
    const heard = await listen()
    const beganMs = Date.now()
    const { output, ended } = fleet(['--play', capmetro, '--drain-ms', '600000', '--then-exit'])
    expect(await ended).toBe(0)
    const seconds = (Date.now() - beganMs) / 1000
    await until(() => heard.filter((item) => !isTick(item)).length >= 24_996, 'all fixes')
    await sleep(200)
    const rows = readFileSync(capmetro, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { van: string; lat: number; lon: number; event_ms: number })
    const fixes = heard.filter((item) => !isTick(item))
    const shiftMs = eventMs(fixes[0]!) - rows[0]!.event_ms
    expect(shiftMs % 60_000).toBe(0)
    const expected = rows.map((row) => ({
      topic: `km0/repartidors/${row.van}/posicio`,
      text: JSON.stringify({ repartidor: row.van, lat: row.lat, lon: row.lon, data_ms: row.event_ms + shiftMs }),
    }))
    expect(fixes).toEqual(expected)
    let clockMs = 0
    for (const item of heard) {
      if (isTick(item)) clockMs = tickMs(item)
      else expect(clockMs).toBe(eventMs(item))
    }
    expectTicksInOrder(heard)
    const lastMs = eventMs(fixes.at(-1)!)
    expect(clockMs).toBe(lastMs + 600_000)
    expect(clockMs).toBeLessThanOrEqual(beganMs)
    expect(clockMs).toBeGreaterThan(beganMs - 60_000)
    console.log(`${heard.length} messages in ${seconds.toFixed(1)} s, start of the process included; ${output().split('\n').at(-2)}`)
  })

  it('plays from now at speed 1 without the clock, counts bad lines, and names them', async () => {
    const heard = await listen()
    const file = join(folder, 'short.jsonl')
    const row = (van: string, ms: number) =>
      JSON.stringify({ van, lat: 41.9, lon: 2.8, event_ms: 1_489_640_400_000 + ms, arrival_ms: 1_489_640_401_000 + ms })
    writeFileSync(file, `${row('a/b', 0)}\n{"van":1}\nnot json\n${row('v2', 700)}\n`)
    const beganMs = Date.now()
    const { output, ended } = fleet(['--from', file])
    expect(await ended).toBe(0)
    const endedMs = Date.now()
    expect(endedMs - beganMs).toBeGreaterThan(700)
    await until(() => heard.length >= 2, 'two fixes')
    expect(heard.map((item) => item.topic)).toEqual(['km0/repartidors/a%2Fb/posicio', 'km0/repartidors/v2/posicio'])
    // It arrives at the beginning, one second after its own time.
    expect(eventMs(heard[0]!)).toBeGreaterThanOrEqual(beganMs - 1_000)
    expect(eventMs(heard[0]!)).toBeLessThan(endedMs - 1_000)
    expect(output()).toMatch(/line 2 van: /)
    expect(output()).toMatch(/line 3 is not JSON/)
    const strict = fleet(['--from', file, '--strict'])
    expect(await strict.ended).toBe(2)
    expect(heard.length).toBe(2)
  })
})

describe('the demo', () => {
  it('lives its last minutes fast, stops when asked, and goes on where it was: nothing twice, nothing missing, no clock that goes back', async () => {
    const heard = await listen()
    const state = join(folder, 'clock.json')
    const journal = join(folder, 'journal.jsonl')
    const words = ['--vans', '30', '--catch-up-minutes', '4', '--state', state, '--journal', journal, '--seed', '9']
    const first = fleet(words)
    await until(() => first.output().includes('at the present'), 'the present')
    const fromMs = tickMs(heard[0]!)
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await sleep(2_500)
    const second = fleet(words)
    await until(() => second.output().includes('at the present'), 'the present again')
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    await sleep(300)

    expectTicksInOrder(heard)
    const lastTickMs = heard.filter(isTick).map(tickMs).at(-1)!
    const expected: Heard[] = []
    const settings = {
      seed: 9,
      vans: 30,
      intervalMs: 5_000,
      hours: 'always' as const,
      rates: DEFAULT_RATES,
      wrongClock: true,
      forced: [],
      startMs: fromMs,
    }
    for (const message of fleetStream(settings, fromMs)) {
      if (message.arrivalMs >= lastTickMs) break
      expected.push({ topic: message.topic, text: message.payload.toString() })
    }
    const fixes = heard.filter((item) => !isTick(item))
    // The last position may follow the last tick within the grain of the clock.
    expect(fixes.slice(0, expected.length)).toEqual(expected)
    expect(fixes.length - expected.length).toBeLessThan(10)
    const noted = readFileSync(journal, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { topic: string })
    expect(noted.map((line) => line.topic)).toEqual(fixes.map((item) => item.topic))
  })

  it('loses nothing when the broker restarts: every message arrives, first arrivals in order', async () => {
    const heard = await listen()
    const run = fleet(['--vans', '140', '--catch-up-minutes', '5', '--speed', '40', '--calm', '--seed', '3'])
    await until(() => heard.length > 1_500, 'some messages')
    await broker.stop()
    broker = await broker.restart()
    await until(() => run.output().includes('at the present'), 'the present')
    run.child.kill('SIGTERM')
    expect(await run.ended).toBe(0)
    await sleep(300)
    const seen = new Set<string>()
    const firsts = heard.filter((item) => !isTick(item) && !seen.has(item.text) && seen.add(item.text))
    const fromMs = tickMs(heard[0]!)
    const settings = {
      seed: 3,
      vans: 140,
      intervalMs: 5_000,
      hours: 'always' as const,
      rates: Object.fromEntries(Object.keys(DEFAULT_RATES).map((kind) => [kind, 0])) as typeof DEFAULT_RATES,
      wrongClock: false,
      forced: [],
      startMs: fromMs,
    }
    const lastTickMs = heard.filter(isTick).map(tickMs).at(-1)!
    const expected: string[] = []
    for (const message of fleetStream(settings, fromMs)) {
      if (message.arrivalMs >= lastTickMs) break
      expected.push(message.payload.toString())
    }
    expect(firsts.slice(0, expected.length).map((item) => item.text)).toEqual(expected)
  })

  it('answers health and metrics', async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const run = fleet(['--vans', '5', '--interval-ms', '500'], { KM0_HTTP_PORT: String(port) })
    const health = async () =>
      (await fetch(`http://127.0.0.1:${port}/health`).then(
        (answer) => answer.json(),
        () => null,
      )) as { status: string } | null
    const deadlineMs = Date.now() + 10_000
    while ((await health())?.status !== 'ok' && Date.now() < deadlineMs) await sleep(50)
    expect(await health()).toEqual({ status: 'ok', parts: { mqtt: { status: 'ok' }, pace: { status: 'ok' } } })
    await sleep(3_000)
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(Number(/km0_fleet_published_total\{kind="position"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(10)
    run.child.kill('SIGTERM')
    expect(await run.ended).toBe(0)
  })
})
