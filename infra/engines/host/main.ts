// `pnpm engine build|start|stop|status|run kafka-streams|flink`: the core on another engine, a local cluster of several processes.
import { spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { commonEnvironment, loadSettings, parseEnvironment, withFiles } from '@km0/runtime'
import { startGuard } from '../../embedded/guard.ts'
import { lastLines } from '../../embedded/process.ts'
import { buildEngine, ENGINES, type Engine, missingOf } from './build.ts'
import { type RunningEngine, startEngine } from './running.ts'

const HELP = `pnpm engine build|start|stop|status|run kafka-streams|flink [OPTIONS]

  build    the bundle and its host; fetches what they need (Maven; for Flink also pip and unzip)
  start    a cluster of Java processes that goes on without this terminal
  stop     ends it in order
  status   its processes, and whether it works; exit code 1 when it does not
  run      the same in this terminal, until Ctrl-C

  --instances N    of each job, or TaskManagers; default 1
  --data-dir DIR   of the platform; logs and states lie in DIR/engine-NAME; default .km0
  Kafka: KAFKA_BROKERS, else that of the platform that \`npm start\` runs there. TLS and SASL: KAFKA_* of docs/settings.md, for start and run.
  Settings KM0_ENGINE_*: docs/engines.md.
  Stop our own roles (positions, stock-shuffle, stock-windows) first, or start the platform with KM0_ENGINE=kafka-streams.
`
const START_TIMEOUT_MS = 240_000
const STOP_TIMEOUT_MS = 60_000
const POLL_MS = 200
/** Longer than an ordered stop. */
const GUARD_GRACE_MS = 30_000

interface State {
  readonly pid: number
  readonly port: number | null
  readonly processes: Readonly<Record<string, number>>
}

function giveUp(message: string, code = 1): never {
  console.error(message)
  process.exit(code)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    instances: { type: 'string', default: '1' },
    'data-dir': { type: 'string', default: '.km0' },
    folder: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [verb = '', name = ''] = positionals
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
if (!ENGINES.some((engine) => engine === name) || !['build', 'start', 'stop', 'status', 'run'].includes(verb)) giveUp(HELP, 2)
const engine = name as Engine
const instances = Number(values.instances)
if (!(Number.isInteger(instances) && instances > 0)) giveUp('--instances is a whole number from 1 on', 2)
const dataDir = resolve(values['data-dir'])
const folder = values.folder === undefined ? join(dataDir, `engine-${engine}`) : resolve(values.folder)
const stateFile = join(folder, 'engine.json')

function read(): State | null {
  try {
    const state = JSON.parse(readFileSync(stateFile, 'utf8')) as State
    process.kill(state.pid, 0)
    return state
  } catch {
    return null
  }
}

function brokersHere(): string {
  try {
    return (JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { kafkaBrokers: string }).kafkaBrokers
  } catch {
    return giveUp(`no Kafka: set KAFKA_BROKERS=host:port, or start the platform (npm start) with its data in ${dataDir}`, 2)
  }
}

/** The environment of the engine's processes, which read KAFKA_* themselves: a secret stands in no argument. Gives up where one of these is wrong. */
function engineEnvironment(): NodeJS.ProcessEnv & { KAFKA_BROKERS: string } {
  const kafka = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('KAFKA_')))
  try {
    parseEnvironment(commonEnvironment.pick({ KAFKA_BROKERS: true }), kafka)
  } catch (error) {
    giveUp((error as Error).message, 2)
  }
  const { KAFKA_BROKERS = brokersHere() } = withFiles(kafka, new Set(['KAFKA_BROKERS']), [])
  return { ...process.env, KAFKA_BROKERS, KAFKA_BROKERS_FILE: undefined }
}

async function requireBuilt(): Promise<void> {
  const missing = await missingOf(engine)
  if (missing !== null) giveUp(missing)
  const other = read()
  if (other !== null) giveUp(`${engine} runs already (process ${other.pid}): pnpm engine status ${engine}`)
}

/** Runs the cluster until it is told to end. */
async function run(): Promise<void> {
  await requireBuilt()
  const environment = engineEnvironment()
  const pipelines = loadSettings('engine', process.env, (text, file) => readPipelineSettings(text, file, process.env))
  mkdirSync(folder, { recursive: true })
  const guard = startGuard(GUARD_GRACE_MS)
  let running: RunningEngine | null = null
  const server = createServer(async (_request, response) => {
    const trouble = running === null ? 'it is being started' : await running.trouble()
    response.writeHead(trouble === null ? 200 : 503, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        status: trouble === null ? 'ok' : 'down',
        parts: { engine: { status: trouble === null ? 'ok' : 'down', detail: trouble ?? engine } },
      }),
    )
  })
  await new Promise<void>((listening) => server.listen(Number(process.env.KM0_HTTP_PORT ?? '0'), '127.0.0.1', listening))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : null
  const write = (processes: ReadonlyMap<string, number>) =>
    writeFileSync(stateFile, JSON.stringify({ pid: process.pid, port, processes: Object.fromEntries(processes) }))
  let stopping: Promise<void> | null = null
  const stop = (code: number) => {
    stopping ??= (async () => {
      await running?.stop()
      rmSync(stateFile, { force: true })
      await guard.close()
      process.exit(code)
    })()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0))
  write(new Map())
  try {
    running = await startEngine(engine, { brokers: environment.KAFKA_BROKERS, folder, instances, pipelines, environment, guard })
  } catch (error) {
    console.error((error as Error).message)
    await stop(1)
  }
  if (running === null) return
  write(running.processes)
  console.log(`${engine} runs: ${[...running.processes.keys()].join(', ')}`)
}

async function start(): Promise<void> {
  await requireBuilt()
  const env = engineEnvironment()
  mkdirSync(folder, { recursive: true })
  const logFile = join(folder, 'engine.log')
  const log = openSync(logFile, 'a')
  const words = ['run', engine, '--instances', String(instances), '--data-dir', dataDir, '--folder', folder]
  const child = spawn(process.execPath, ['--enable-source-maps', fileURLToPath(import.meta.url), ...words], {
    detached: true,
    stdio: ['ignore', log, log],
    env,
  })
  let isOver = false
  child.once('exit', () => {
    isOver = true
  })
  child.unref()
  for (const endMs = Date.now() + START_TIMEOUT_MS; Date.now() < endMs && !isOver; await sleep(POLL_MS)) {
    const state = read()
    if (state !== null && Object.keys(state.processes).length > 0) return print(state, await trouble(state))
  }
  giveUp(`${engine} did not start:\n${lastLines(logFile)}`)
}

async function trouble({ port }: State): Promise<string | null> {
  const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => null)
  if (answer === null) return 'it does not answer'
  const { parts } = (await answer.json()) as { parts: { engine: { detail: string } } }
  return answer.ok ? null : parts.engine.detail
}

function print({ processes }: State, what: string | null): void {
  for (const [process, pid] of Object.entries(processes)) console.log(`  ${process.padEnd(16)} process ${pid}`)
  console.log(what === null ? `${engine} works; logs in ${folder}` : `${engine} does not work: ${what}`)
}

async function status(): Promise<void> {
  const state = read()
  if (state === null) {
    console.log(`${engine} does not run`)
    process.exit(1)
  }
  const what = await trouble(state)
  print(state, what)
  process.exit(what === null ? 0 : 1)
}

async function stop(): Promise<void> {
  const state = read()
  if (state === null) {
    console.log(`${engine} does not run`)
    return
  }
  process.kill(state.pid, 'SIGTERM')
  for (const endMs = Date.now() + STOP_TIMEOUT_MS; Date.now() < endMs; await sleep(POLL_MS)) {
    if (read() !== null) continue
    console.log(`${engine} is stopped`)
    return
  }
  giveUp(`${engine} (process ${state.pid}) has not ended within ${STOP_TIMEOUT_MS / 1000} s`)
}

if (verb === 'build') {
  await buildEngine(engine).catch((error: Error) => giveUp(error.message.slice(-3_000)))
  console.log(`${engine} is built`)
} else if (verb === 'run') await run()
else if (verb === 'start') await start()
else if (verb === 'stop') await stop()
else await status()
