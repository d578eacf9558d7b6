// Memory, checkpoints and stalls of the positions job with many vans, in one process: `npx tsx test/bench/many-vans.ts [--vans N] [--partitions N]
// [--minutes N] [--every SECONDS]`. For sizes after a collection: `node --expose-gc --import tsx test/bench/many-vans.ts`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { openCheckpointStore } from '@km0/checkpoints'
import { openDirectoryObjects } from '@km0/checkpoints/directory-objects'
import { createPositionsHost } from '@km0/pipelines'
import { createLogger, Registry } from '@km0/runtime'
import type { LogRecord } from '@km0/transport'
import { Checkpointer } from '../../apps/stream/src/checkpointer.ts'
import { PartitionTask } from '../../apps/stream/src/partition-task.ts'
import { positionsMetrics } from '../../apps/stream/src/positions-metrics.ts'

const number = (fallback: string) => ({ type: 'string' as const, default: fallback })
const { values } = parseArgs({ options: { vans: number('100000'), partitions: number('6'), minutes: number('7'), every: number('5') } })
const vans = Number(values.vans)
const partitions = Number(values.partitions)
const everyMs = Number(values.every) * 1_000
const ticks = Math.floor((Number(values.minutes) * 60_000) / everyMs)
const START_MS = 1_789_380_000_000
const DAY_MS = 86_400_000
const SLICE = 10_000

const collectGarbage = (globalThis as { gc?: () => void }).gc
const mib = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`
const memory = () => {
  collectGarbage?.()
  const { heapUsed, rss } = process.memoryUsage()
  return `heap ${mib(heapUsed)}, RSS ${mib(rss)}, most so far ${mib(process.resourceUsage().maxRSS * 1_024)}`
}

function newTask(partition: number): PartitionTask {
  return new PartitionTask(partition, 1, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0)
}

/** Applies values of one partition in slices, as the job does. Returns how many results came out. */
function feed(task: PartitionTask, nowMs: number, texts: readonly string[]): number {
  let results = 0
  for (let first = 0; first < texts.length; first += SLICE) {
    const records: LogRecord[] = texts.slice(first, first + SLICE).map((text, index) => ({
      partition: task.partition,
      offset: task.nextOffset + index,
      timestampMs: nowMs,
      key: null,
      value: Buffer.from(text, 'latin1'),
      headers: {},
    }))
    results += task.apply(records, task.nextOffset + records.length).records.length
  }
  return results
}

const heartbeat = (nowMs: number) => `{"tipus":"batec","data_ms":${nowMs}}`

/** Runs something and prints how long it took, and for how long at most nothing else could run. */
async function watched(what: string, work: () => Promise<string>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  const note = await work()
  const { user, system } = process.cpuUsage(cpu)
  const tookMs = performance.now() - startMs
  // The last stall is noted when the loop turns once more.
  await new Promise((resolve) => setTimeout(resolve, 50))
  delay.disable()
  console.log(
    `${what}: ${(tookMs / 1_000).toFixed(2)} s (${((user + system) / 1e6).toFixed(2)} CPU s), longest stall ${Math.round(delay.max / 1e6)} ms; ${note}; ${memory()}`,
  )
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'km0-many-vans-'))
  const store = openCheckpointStore({ objects: openDirectoryObjects(directory), keep: 2 })
  const metrics = positionsMetrics(new Registry())
  const checkpointer = new Checkpointer({
    pipeline: 'positions',
    store,
    epoch: 1,
    epochInForce: async () => 1,
    intervalMs: 30_000,
    keep: 2,
    detail: directory,
    metrics,
    log: createLogger('bench', 'warn'),
  })
  console.log(`${vans} vans in ${partitions} partitions, one point each every ${everyMs / 1_000} s; before: ${memory()}`)
  let tasks = Array.from({ length: partitions }, (_, partition) => newTask(partition))
  let nowMs = START_MS
  let results = 0
  const cpu = process.cpuUsage()
  for (let tick = 0; tick < ticks; tick += 1, nowMs += everyMs) {
    for (const task of tasks) {
      const texts = [heartbeat(nowMs)]
      for (let van = task.partition; van < vans; van += partitions) {
        const place = `"lat":${(41.9 + (van % 977) / 1e4 + tick / 1e5).toFixed(6)},"lon":${(2.8 + (van % 613) / 1e4).toFixed(6)}`
        texts.push(`{"repartidor":"furgoneta-${van}",${place},"data_ms":${nowMs - (van % 2_000)}}`)
      }
      results += feed(task, nowMs, texts)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(cpu)
  const perRecord = ((user + system) / (ticks * vans)).toFixed(1)
  console.log(`applied ${ticks * vans} points (${perRecord} CPU µs each with making them), ${results} results; ${memory()}`)

  await watched('checkpoint of all partitions', async () => {
    for (const task of tasks) await checkpointer.store(task, async () => undefined)
    const bytes = (await store.list('positions')).reduce((sum, entry) => sum + entry.bytes, 0)
    return `${mib(bytes)} stored`
  })
  tasks = tasks.map(({ partition }) => newTask(partition))
  await watched('restore of all partitions', async () => {
    for (const task of tasks) await checkpointer.restore(task, Number.MAX_SAFE_INTEGER)
    return `${tasks.reduce((sum, task) => sum + task.keyCount, 0)} vans`
  })

  for (const [what, afterMs] of [
    ['30 minutes', 1_800_000],
    ['7 days', 7 * DAY_MS],
    ['7 days and 20 minutes', 7 * DAY_MS + 1_200_000],
  ] as const) {
    for (const task of tasks) feed(task, nowMs + afterMs, [heartbeat(nowMs + afterMs)])
    console.log(`silent for ${what}: state of ${tasks.reduce((sum, task) => sum + task.keyCount, 0)} vans; ${memory()}`)
  }
  rmSync(directory, { recursive: true, force: true })
}

await main()
