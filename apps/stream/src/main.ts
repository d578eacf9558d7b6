import { parseArgs } from 'node:util'
import { TOPICS } from '@km0/contracts'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { loadSettings, openTracer, serveOperations, startProgram, watchDisk } from '@km0/runtime'
import { openLog } from '@km0/transport'
import { streamEnvironment } from './environment.ts'
import { startLake } from './lake/lake-role.ts'
import { startPositions } from './positions-role.ts'
import type { StartRole } from './role.ts'
import { startServing } from './serving-role.ts'
import { startStockServing, together } from './stock-serving-role.ts'
import { startStockShuffle } from './stock-shuffle/shuffle-role.ts'
import { startStockWindows } from './stock-windows/windows-role.ts'

/** Each role is its own process, consumer group, health and metrics. */
const ROLES: Readonly<Record<string, StartRole>> = {
  positions: startPositions,
  serving: together(startServing, startStockServing),
  lake: startLake,
  'stock-shuffle': startStockShuffle,
  'stock-windows': startStockWindows,
}

const role = roleOf(process.argv.slice(2))
const pipelines = loadSettings(`stream-${role.name}`, process.env, (text, file) => readPipelineSettings(text, file, process.env))
const program = {
  ...startProgram(`stream-${role.name}`, streamEnvironment),
  pipelines,
  tracer: openTracer(`stream-${role.name}`, process.env),
}
const { settings, log, metrics, health, shutdown } = program
shutdown.add('traces', () => program.tracer?.close())

let started = false
health.register('start', () => (started ? { status: 'ok' } : { status: 'down', detail: 'starting' }))
const operations = await serveOperations({ host: settings.KM0_HTTP_HOST, port: settings.KM0_HTTP_PORT, health, metrics })
shutdown.add('http', () => operations.close())
const disk = await watchDisk(program, {
  data: settings.KM0_DATA_DIR,
  checkpoints: settings.KM0_CHECKPOINTS ?? settings.KM0_CHECKPOINT_DIR,
  lake: role.name === 'lake' ? process.env.KM0_LAKE_DATA : undefined,
})
shutdown.add('disk', () => disk.close())

try {
  const kafka = openLog({ brokers: settings.KAFKA_BROKERS, clientId: `km0-stream-${role.name}`, logger: log })
  await kafka.ensureTopics(Object.values(TOPICS))
  const running = await role.start(program, kafka)
  shutdown.add(role.name, () => running.stop())
  started = true
  log.info({ port: operations.port }, 'stream role ready')
} catch (error) {
  shutdown.fail(error)
}

function roleOf(args: readonly string[]): { name: string; start: StartRole } {
  const known = Object.keys(ROLES).join(' | ')
  try {
    const { values } = parseArgs({ args: [...args], options: { role: { type: 'string' } }, strict: true })
    const start = values.role !== undefined && Object.hasOwn(ROLES, values.role) ? ROLES[values.role] : undefined
    if (values.role !== undefined && start !== undefined) return { name: values.role, start }
    process.stderr.write(`stream: --role ${known} is needed${values.role === undefined ? '' : `, not "${values.role}"`}\n`)
  } catch (error) {
    process.stderr.write(`stream: ${error instanceof Error ? error.message : String(error)}; usage: stream --role ${known}\n`)
  }
  process.exit(2)
}
