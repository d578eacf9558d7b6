import type { ChildProcess } from 'node:child_process'
import { usageOf } from './proc.ts'

const LOOK_EVERY_MS = 500

/** A program under faults, and those that are started in its place. What they cost is added up over the processes, each as it was seen last. */
export class RestartedProcess {
  readonly #start: () => ChildProcess
  readonly #seen = new Map<number, ReturnType<typeof usageOf>>()
  readonly #timer: NodeJS.Timeout
  #child: ChildProcess

  constructor(start: () => ChildProcess) {
    this.#start = start
    this.#child = start()
    // One that ends by itself is known up to here.
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /** CPU time of all together, and the highest memory of one. */
  usage(): ReturnType<typeof usageOf> {
    this.#look()
    const all = [...this.#seen.values()]
    return {
      cpuSeconds: all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      peakRssMb: Math.max(0, ...all.map(({ peakRssMb }) => peakRssMb)),
    }
  }

  /** Kills it with -9 and starts its successor. */
  async again(): Promise<void> {
    await this.#kill9()
    this.#child = this.#start()
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#kill9()
  }

  #look(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      this.#seen.set(pid, usageOf(pid))
    } catch {
      // It has ended: what was seen last stays.
    }
  }

  async #kill9(): Promise<void> {
    this.#look()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await exited
  }
}
