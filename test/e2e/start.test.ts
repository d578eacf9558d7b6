// `npm start` as a whole: ready, a second one, stopped in order, started again. It needs the bundles and pages that `npm test` has built before.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, isPortFree } from '@km0/infra/embedded/ports'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'km0-start-'))
const STOPS_WITHIN_MS = 15_000
/** Seen: 14 s on two cores; other work on the machine may double it. */
const FIRST_READY_WITHIN_MS = 90_000
/** 30 s on a machine that has nothing else to do; a busy one is told, not failed. */
const SECOND_READY_WITHIN_MS = 120_000

interface Start {
  readonly child: ChildProcess
  readonly said: () => string
  readonly ended: Promise<number | null>
}

const starts: Start[] = []
const OUTSIDE = ['KAFKA_BROKERS', 'DATABASE_URL', 'REDIS_URL', 'MQTT_URL']

/** The launcher without the install and build before it: other tests use the bundles now. */
function start(...words: string[]): Start {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OUTSIDE.includes(name)))
  const child = spawn(process.execPath, [join('infra', 'dist', 'launcher.js'), '--data-dir', folder, ...words], {
    cwd: root,
    env: environment as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const started = { child, said: () => text, ended }
  starts.push(started)
  return started
}

async function ready({ said, child }: Start, withinMs: number): Promise<string> {
  const deadlineMs = performance.now() + withinMs
  for (;;) {
    const url = /^Panel: (http:\S+)$/m.exec(said())?.[1]
    if (url !== undefined) return url
    if (child.exitCode !== null || performance.now() > deadlineMs) throw new Error(`not ready within ${withinMs} ms:\n${said()}`)
    await sleep(100)
  }
}

/** Process ids whose command line names our data folder. */
function processesOfOurs(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
    try {
      return readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(folder)
    } catch {
      return false
    }
  })
}

afterAll(async () => {
  for (const { child, ended } of starts) {
    if (child.exitCode === null) child.kill('SIGTERM')
    await ended
  }
  rmSync(folder, { recursive: true, force: true })
})

describe('npm start', () => {
  let port = 0

  it('is ready when a position has reached the panel, and health then says ok', async () => {
    port = await freePort()
    const platform = start('--port', String(port))
    const url = await ready(platform, FIRST_READY_WITHIN_MS)
    expect(url).toBe(`http://127.0.0.1:${port}/`)
    expect(platform.said().trimEnd().split('\n').at(-1)).toBe(`Panel: ${url}`)
    const health = (await (await fetch(`${url}health`)).json()) as { status: string; parts: object }
    expect(health).toMatchObject({ status: 'ok', ready: true })
    // Names of vans are nobody's business without a sign-in.
    expect(JSON.stringify(health)).not.toContain('furgoneta')
    expect((await fetch(url)).status).toBe(200)
  })

  it('says so when it runs already', async () => {
    const second = start()
    expect(await second.ended).toBe(1)
    expect(second.said()).toContain(`It runs already (process ${starts[0]?.child.pid}). Panel: http://127.0.0.1:${port}/`)
  })

  it.skipIf(process.platform !== 'linux')('starts a killed part again and says so', async () => {
    const platform = starts[0] as Start
    const pid = processesOfOurs().find((id) => readFileSync(join('/proc', id, 'cmdline'), 'utf8').includes('packages/fleet/dist'))
    expect(pid).toBeDefined()
    process.kill(Number(pid), 'SIGKILL')
    const deadlineMs = performance.now() + 20_000
    while (!/fleet is started again/.test(platform.said()) && performance.now() < deadlineMs) await sleep(100)
    expect(platform.said()).toMatch(/fleet ended \(SIGKILL\); the end of .*fleet\.log:/)
  })

  it('stops everything in order within 15 s at Ctrl-C', async () => {
    const platform = starts[0] as Start
    const startedMs = performance.now()
    // A terminal sends it to the whole group, and npm passes it on once more: twice is no hurry. SIGTERM ends the other platforms of this suite.
    platform.child.kill('SIGINT')
    await sleep(300)
    platform.child.kill('SIGINT')
    expect(await platform.ended).toBe(0)
    expect(platform.said()).toContain('Stopping: Ctrl-C')
    expect(performance.now() - startedMs).toBeLessThan(STOPS_WITHIN_MS)
    const stopped = [...platform.said().matchAll(/^✓ stop (.*) \(/gm)].map(([, what]) => what)
    expect(stopped).toEqual([
      'fleet, stock',
      'bridge',
      'stream-positions, stream-stock-shuffle, stream-stock-windows, stream-serving, stream-lake',
      'dashboard',
      'batch',
      'services',
    ])
    expect(await isPortFree(port)).toBe(true)
    if (existsSync('/proc/self')) expect(processesOfOurs()).toEqual([])
  })

  it('is ready a second time, and its services do not outlive a kill -9', async () => {
    const startedMs = performance.now()
    const platform = start('--port', String(port))
    await ready(platform, SECOND_READY_WITHIN_MS)
    console.info(`the second start took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
    platform.child.kill('SIGKILL')
    await platform.ended
    const deadlineMs = performance.now() + STOPS_WITHIN_MS
    while (existsSync('/proc/self') && processesOfOurs().length > 0 && performance.now() < deadlineMs) await sleep(200)
    if (existsSync('/proc/self')) expect(processesOfOurs()).toEqual([])
    expect(await isPortFree(port)).toBe(true)
  })
})
