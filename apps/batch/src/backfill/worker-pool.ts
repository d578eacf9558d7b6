import { type ChildProcess, fork } from 'node:child_process'
import { RefusedError } from './context.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** The process that did a job has ended before it told a result. */
export class WorkerDiedError extends Error {
  override readonly name = 'WorkerDiedError'
}

export interface PoolSettings {
  /** Bundle of `worker.ts`. */
  readonly program: string
  readonly processes: number
  readonly idleMs: number
  readonly environment: NodeJS.ProcessEnv
}

interface Task {
  readonly group: string
  readonly onShare: (share: number) => void
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

interface WorkerProcess {
  readonly child: ChildProcess
  task: Task | null
  idleTimer: NodeJS.Timeout | null
}

/**
 * Processes that compute, so that this one stays free to renew locks. Started when there is work, ended after a while without. A job is given
 * up by killing its process: what it stores is one transaction.
 */
export class WorkerPool {
  readonly #settings: PoolSettings
  readonly #workers = new Set<WorkerProcess>()
  readonly #waiting: (() => void)[] = []
  #nextId = 1
  #closed = false

  constructor(settings: PoolSettings) {
    this.#settings = settings
  }

  /** Runs a job of a group. Rejects with RefusedError, WorkerDiedError, or what the worker says. */
  async run(group: string, kind: string, payload: unknown, onShare: (share: number) => void): Promise<unknown> {
    const worker = await this.#free()
    const id = this.#nextId
    this.#nextId += 1
    const message: ToWorker = { id, kind, payload }
    return new Promise((resolve, reject) => {
      worker.task = { group, onShare, resolve, reject }
      worker.child.send(message)
    })
  }

  /** Groups that have a job in work. */
  groups(): Set<string> {
    return new Set([...this.#workers].flatMap(({ task }) => (task === null ? [] : [task.group])))
  }

  /** Ends the processes that work on a group, at once. */
  kill(group: string): void {
    for (const { child, task } of this.#workers) if (task?.group === group) child.kill('SIGKILL')
  }

  async close(): Promise<void> {
    this.#closed = true
    const children = [...this.#workers].map(({ child }) => child)
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(
      children.map((child) => (child.exitCode ?? child.signalCode) !== null || new Promise((resolve) => child.once('exit', resolve))),
    )
  }

  async #free(): Promise<WorkerProcess> {
    for (;;) {
      if (this.#closed) throw new WorkerDiedError('the program is ending')
      const idle = [...this.#workers].find(({ task, child }) => task === null && child.connected)
      if (idle !== undefined) return claim(idle)
      if (this.#workers.size < this.#settings.processes) return claim(this.#start())
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #start(): WorkerProcess {
    const child = fork(this.#settings.program, [], { env: this.#settings.environment, execArgv: ['--enable-source-maps'] })
    const worker: WorkerProcess = { child, task: null, idleTimer: null }
    this.#workers.add(worker)
    child.on('message', (message) => this.#onMessage(worker, message as FromWorker))
    child.on('error', () => child.kill('SIGKILL'))
    child.on('exit', (code, signal) => {
      this.#workers.delete(worker)
      if (worker.idleTimer !== null) clearTimeout(worker.idleTimer)
      worker.task?.reject(new WorkerDiedError(`the worker process ended (${signal ?? `code ${code}`})`))
      worker.task = null
      this.#waiting.shift()?.()
    })
    return worker
  }

  #onMessage(worker: WorkerProcess, message: FromWorker): void {
    const { task } = worker
    if (task === null) return
    if (message.type === 'share') {
      task.onShare(message.share)
      return
    }
    worker.task = null
    worker.idleTimer = setTimeout(() => worker.child.kill('SIGTERM'), this.#settings.idleMs)
    if (message.type === 'result') task.resolve(message.value)
    else task.reject(message.isRefused ? new RefusedError(message.message) : new Error(message.message))
    this.#waiting.shift()?.()
  }
}

/** A worker that is about to get its task is nobody else's. */
function claim(worker: WorkerProcess): WorkerProcess {
  if (worker.idleTimer !== null) clearTimeout(worker.idleTimer)
  worker.idleTimer = null
  worker.task = { group: '', onShare: () => undefined, resolve: () => undefined, reject: () => undefined }
  return worker
}
