import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { YOUNG_HEAP } from '@km0/infra/launcher/parts'
import { cpuTicksOf, peakRssMbOf, TICKS_PER_SECOND } from './proc.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const LOOK_EVERY_MS = 20

export interface Run {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakRssMb: number
}

/** One process of the real job, watched from outside. */
class Worker {
  readonly #child: ChildProcess
  readonly exited: Promise<number | null>
  #output = ''
  #cpuSeconds = 0
  #peakRssMb = 0

  constructor(environment: Readonly<Record<string, string>>, nodeOptions: readonly string[]) {
    this.#child = spawn(process.execPath, [...nodeOptions, YOUNG_HEAP, 'apps/stream/dist/main.js', '--role', 'positions'], {
      cwd: root,
      env: { ...process.env, KM0_HTTP_PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const collect = (chunk: Buffer) => {
      this.#output += chunk.toString()
    }
    this.#child.stdout?.on('data', collect)
    this.#child.stderr?.on('data', collect)
    this.exited = new Promise((resolve) => this.#child.once('exit', (code) => resolve(code)))
  }

  look(): void {
    try {
      this.#cpuSeconds = cpuTicksOf(this.#child.pid ?? 0) / TICKS_PER_SECOND
      this.#peakRssMb = peakRssMbOf(this.#child.pid ?? 0)
    } catch {
      // It has ended: what was seen last is what it was.
    }
  }

  get cpuSeconds(): number {
    return this.#cpuSeconds
  }

  get peakRssMb(): number {
    return this.#peakRssMb
  }

  /** Partition -> records that it has not applied yet. */
  async lag(): Promise<Map<string, number>> {
    const port = /"port":(\d+)/.exec(this.#output)?.[1]
    if (port === undefined) return new Map()
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } }).catch(() => null)
    const rows = (await answer?.text()) ?? ''
    return new Map(
      [...rows.matchAll(/^km0_stream_lag_records\{[^}]*partition="(\d+)"[^}]*\} (\d+)/gm)].map(([, partition = '', lag]) => [
        partition,
        Number(lag),
      ]),
    )
  }

  requireAlive(): void {
    if (this.#child.exitCode !== null) throw new Error(`the job ended with ${this.#child.exitCode}:\n${this.#output.slice(-2_000)}`)
  }

  stop(): void {
    this.#child.kill('SIGTERM')
  }
}

/**
 * The job from the log's start to its end, by as many processes as are asked for. Timed from the first record to the end of the last
 * process, so with the last checkpoint and commit; `cpuSeconds` is that of all processes from then on.
 */
export async function runOurs(
  environment: Readonly<Record<string, string>>,
  {
    workers,
    partitions,
    nodeOptions = [],
  }: { readonly workers: number; readonly partitions: number; readonly nodeOptions?: readonly string[] },
): Promise<Run> {
  const directory = mkdtempSync(join(tmpdir(), 'km0-bench-live-'))
  const all = Array.from({ length: workers }, () => new Worker({ ...environment, KM0_CHECKPOINT_DIR: directory }, nodeOptions))
  const timer = setInterval(() => {
    for (const worker of all) worker.look()
  }, LOOK_EVERY_MS)
  const cpu = () => all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  let begin: { readonly ms: number; readonly cpuSeconds: number } | null = null
  try {
    for (;;) {
      const left = new Map<string, number>()
      for (const worker of all) {
        worker.requireAlive()
        for (const [partition, lag] of await worker.lag())
          left.set(partition, Math.min(lag, left.get(partition) ?? Number.MAX_SAFE_INTEGER))
      }
      if (left.size > 0) begin ??= { ms: performance.now(), cpuSeconds: cpu() }
      if (left.size === partitions && [...left.values()].every((lag) => lag === 0)) break
      // Asking costs it something, so rarely once it works.
      await new Promise((resolve) => setTimeout(resolve, begin === null ? LOOK_EVERY_MS : 5 * LOOK_EVERY_MS))
    }
    for (const worker of all) worker.stop()
    await Promise.all(all.map(({ exited }) => exited))
  } finally {
    clearInterval(timer)
    for (const worker of all) worker.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return {
    seconds: Number(((performance.now() - (begin?.ms ?? 0)) / 1_000).toFixed(3)),
    cpuSeconds: Number((cpu() - (begin?.cpuSeconds ?? 0)).toFixed(2)),
    peakRssMb: all.reduce((sum, { peakRssMb }) => sum + peakRssMb, 0),
  }
}
