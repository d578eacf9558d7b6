import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { startGuard } from '@km0/infra/embedded/guard'
import { ENGINES, type Engine, missingOf } from '@km0/infra/engines/host/build'
import { startEngine } from '@km0/infra/engines/host/running'
import type { Log } from '@km0/transport'
import type { Run } from './live-ours.ts'
import { usageOf } from './proc.ts'

const LOOK_EVERY_MS = 100
const WITHIN_MS = 1_800_000

/** Consumer group of Flink's job, which a turn forgets; Kafka Streams gets a name of its own each time, since its state is in the log too. */
export const FLINK_GROUP = 'km0-flink-positions'
let turns = 0

/** Our own bundle in other engines, where they are built (`pnpm engine build`). */
export async function liveHosts(): Promise<Engine[]> {
  const built: Engine[] = []
  for (const engine of ENGINES) if ((await missingOf(engine)) === null) built.push(engine)
  return built
}

/**
 * A host from the log's start to its end, an instance a core: timed from when it works to the commit of the last record, JVM's start left out as
 * our own is. CPU and memory are those of all its processes.
 */
export async function runLiveHost(engine: Engine, brokers: string, log: Log): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'km0-bench-host-'))
  const guard = startGuard(0)
  const parsed = readPipelineSettings(null, 'settings', {})
  if (!('settings' in parsed)) throw new Error(parsed.wrong)
  turns += 1
  const id = `km0-bench-${process.pid}-${turns}`
  const running = await startEngine(engine, {
    brokers,
    folder,
    instances: cpus().length,
    jobs: ['positions'],
    pipelines: parsed.settings,
    environment: { ...process.env, KM0_ENGINE_ID: id },
    guard,
  })
  try {
    const startMs = performance.now()
    const before = lookAt(running.processes)
    const ends = await log.endOffsets(TOPICS.positions.name)
    const group = engine === 'flink' ? FLINK_GROUP : `${id}-positions`
    for (;;) {
      const committed = await log.committedOffsets(group, TOPICS.positions.name)
      if ([...ends].every(([partition, end]) => (committed.get(partition) ?? 0) >= end)) break
      if (performance.now() - startMs > WITHIN_MS) throw new Error(`${engine} has not come to the end of the log`)
      await sleep(LOOK_EVERY_MS)
    }
    const after = lookAt(running.processes)
    return {
      seconds: Number(((performance.now() - startMs) / 1_000).toFixed(3)),
      cpuSeconds: Number((after.cpuSeconds - before.cpuSeconds).toFixed(2)),
      peakRssMb: after.peakRssMb,
    }
  } finally {
    await running.stop()
    await guard.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function lookAt(processes: ReadonlyMap<string, number>): { cpuSeconds: number; peakRssMb: number } {
  let cpuSeconds = 0
  let peakRssMb = 0
  for (const pid of processes.values()) {
    const usage = usageOf(pid)
    cpuSeconds += usage.cpuSeconds
    peakRssMb += usage.peakRssMb
  }
  return { cpuSeconds, peakRssMb }
}
