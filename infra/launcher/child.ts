import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Guard } from '../embedded/guard.ts'
import { Backoff } from './backoff.ts'
import { consoleText, LineBrake } from './console-lines.ts'
import type { LogFile } from './log-file.ts'

const CRASH_LINES = 12
/** runtime's code for settings that are wrong: starting again would not help. */
const WRONG_SETTINGS = 2

export interface ChildOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
  readonly log: LogFile
  readonly mayEnd: boolean
  readonly stopTimeoutMs: number
  readonly guard?: Guard | undefined
  readonly backoff?: Backoff
  /** A line for the console. */
  readonly say: (line: string) => void
  /** Called at each crash with the number of crashes in a row. */
  readonly onCrash?: (inARow: number) => void
  /** Called when starting again is of no use. */
  readonly onHopeless?: (reason: string) => void
}

type State = 'running' | 'waiting' | 'stopping' | 'ended'

/**
 * One program as a child process in a group of its own, kept alive. States: `running` → (crash) `waiting` for the backoff → `running`;
 * `stop` leads from any of them to `stopping` → `ended`, from which nothing leads back. A crash is said with the last lines of the log.
 */
export class Child {
  readonly #options: ChildOptions
  readonly #backoff: Backoff
  readonly #brake = new LineBrake()
  #state: State = 'waiting'
  #process: ChildProcess | null = null
  #ended: Promise<void> = Promise.resolve()
  #restart = new AbortController()

  constructor(options: ChildOptions) {
    this.#options = options
    this.#backoff = options.backoff ?? new Backoff()
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get state(): State {
    return this.#state
  }

  start(): void {
    const { name, command, args, cwd, environment, guard, log } = this.#options
    const startedMs = performance.now()
    const child = spawn(command, [...args], { cwd, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process = child
    this.#state = 'running'
    const { pid } = child
    if (pid !== undefined) guard?.watch(pid)
    for (const stream of ['stdout', 'stderr'] as const) {
      const lines = createInterface({ input: child[stream] })
      lines.on('line', (line) => this.#heard(line, stream))
    }
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        log.write(`cannot start: ${error.message}`)
        if (pid === undefined) resolve()
      })
      // `close` comes after the last line was read.
      child.once('close', (code, signal) => {
        if (pid !== undefined) guard?.forget(pid)
        resolve()
        this.#over(code, signal, performance.now() - startedMs)
      })
    })
    log.write(`--- ${new Date().toISOString()} ${name} started, process ${pid}`)
  }

  /** Asks the program to end and waits until it has; its group is killed when it takes longer than allowed. */
  async stop(timeoutMs = this.#options.stopTimeoutMs): Promise<void> {
    this.#restart.abort()
    const child = this.#process
    if (this.#state !== 'running' || child === null) {
      this.#state = 'ended'
      return
    }
    this.#state = 'stopping'
    child.kill('SIGTERM')
    const timer = new AbortController()
    const late = sleep(timeoutMs, true, { signal: timer.signal }).catch(() => false)
    if (await Promise.race([this.#ended.then(() => false), late])) {
      this.#options.say(`${this.#options.name} did not stop within ${timeoutMs} ms and is killed`)
      this.#killGroup()
      await this.#ended
    }
    timer.abort()
    // What the program itself had started and left.
    this.#killGroup()
    this.#state = 'ended'
  }

  #killGroup(): void {
    if (this.#process?.pid === undefined) return
    try {
      process.kill(-this.#process.pid, 'SIGKILL')
    } catch {
      // Nobody is left in the group.
    }
  }

  #heard(line: string, stream: 'stdout' | 'stderr'): void {
    this.#options.log.write(line)
    const text = consoleText(line, stream)
    if (text === null) return
    for (const shown of this.#brake.pass(text, performance.now())) this.#options.say(`[${this.#options.name}] ${shown}`)
  }

  #over(code: number | null, signal: NodeJS.Signals | null, livedMs: number): void {
    if (this.#state !== 'running') return
    const { name, mayEnd, log, say, onHopeless } = this.#options
    this.#killGroup()
    if (mayEnd && code === 0) {
      this.#state = 'ended'
      say(`${name} has finished`)
      return
    }
    const how = signal === null ? `exit ${code}` : signal
    const last = log.tail(CRASH_LINES).map((line) => `    ${line}`)
    say([`${name} ended (${how}); the end of ${log.path}:`, ...last].join('\n'))
    if (code === WRONG_SETTINGS) {
      this.#state = 'ended'
      onHopeless?.(`${name} refuses its settings`)
      return
    }
    const waitMs = this.#backoff.crashed(livedMs)
    this.#state = 'waiting'
    this.#options.onCrash?.(this.#backoff.inARow)
    if (this.#restart.signal.aborted) return
    say(`${name} is started again in ${waitMs / 1000} s`)
    sleep(waitMs, undefined, { signal: this.#restart.signal }).then(
      () => this.start(),
      () => {},
    )
  }
}
