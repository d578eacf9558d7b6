import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TestServices } from '@km0/testkit/services'
import { cacheRoot } from '../../infra/embedded/cache.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles the batch program from its sources. */
export function buildBatch(): void {
  execFileSync(process.execPath, ['infra/build.mjs', 'apps/batch'], { cwd: root, stdio: 'inherit' })
}

type Services = TestServices<{ postgres: true; redis: true }>

/** The batch program as a process of its own. */
export class BatchProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  output = ''

  private constructor(environment: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, ['apps/batch/dist/main.js'], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on('data', (chunk) => (this.output += chunk))
    this.#exited = new Promise((resolve) => this.#child.once('exit', () => resolve()))
  }

  /** Starts it over a lake of the test's own and waits until it serves the queue. */
  static async start(services: Services, schema: string, changes: Readonly<Record<string, string>> = {}): Promise<BatchProcess> {
    const batch = new BatchProcess({
      ...services.environment,
      KAFKA_BROKERS: '127.0.0.1:1',
      KM0_HTTP_PORT: '0',
      KM0_LEDGER_HOURLY_AFTER_MS: '0',
      KM0_NIGHTLY_AT: 'off',
      KM0_LAKE_SCHEMA: schema,
      KM0_LAKE_EXTENSIONS: join(cacheRoot(), 'duckdb'),
      KM0_LAKE_TEMPORARY: join(services.dataDir, 'lake-tmp'),
      KM0_BATCH_CHECK_MS: '500',
      KM0_BATCH_LOCK_MS: '1500',
      ...changes,
    })
    await until('the batch program is ready', () => {
      if (batch.#child.exitCode !== null) throw new Error(batch.output)
      return batch.output.includes('batch worker ready')
    })
    return batch
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Processes that compute for it. */
  workers(): number[] {
    try {
      return execFileSync('pgrep', ['-P', String(this.#child.pid)], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map(Number)
    } catch {
      return []
    }
  }

  async kill9(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }
}

/** What rows and truth do not share, a few of each: a difference of long lists takes minutes to print. */
export function differing(rows: readonly string[], truth: readonly string[]): { count: number; lacking: string[]; surplus: string[] } {
  const [has, wanted] = [new Set(rows), new Set(truth)]
  const lacking = truth.filter((row) => !has.has(row))
  const surplus = rows.filter((row) => !wanted.has(row))
  return { count: rows.length - truth.length, lacking: lacking.slice(0, 5), surplus: surplus.slice(0, 5) }
}

/** When they are the same, each row once. */
export const SAME = { count: 0, lacking: [], surplus: [] }

export async function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 200_000): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(20)
  }
}

export interface KilledRun<T> {
  readonly seed: number
  readonly kills: number
  readonly batch: () => BatchProcess
  /** Starts the program again after it was killed. */
  readonly restart: () => Promise<void>
  readonly run: () => Promise<T>
}

/** Runs something while worker processes, and now and then the program, are killed with -9 at random. */
export async function killedRun<T>({ seed, kills, batch, restart, run }: KilledRun<T>): Promise<T> {
  let isOver = false
  const running = run().finally(() => {
    isOver = true
  })
  // Handled below; until then it is nobody's.
  running.catch(() => undefined)
  let random = seed
  for (let kill = 0; kill < kills && !isOver; kill += 1) {
    random = (random * 48_271) % 2_147_483_647
    await sleep(random % 400)
    if (kill % 4 === 3) {
      await batch().kill9()
      await restart()
      continue
    }
    const workers = batch().workers()
    const pid = workers[random % Math.max(1, workers.length)]
    if (pid !== undefined) killOne(pid)
  }
  return running
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
