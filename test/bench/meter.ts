import { readFileSync } from 'node:fs'
import { cpuTicksOf, TICKS_PER_SECOND } from './proc.ts'

/** CPU time and highest memory of processes that come and go, looked at ten times a second. */
export class Meter {
  readonly #pids: () => readonly number[]
  readonly #ticks = new Map<number, { first: number; last: number }>()
  readonly #timer: NodeJS.Timeout
  #peakKb = 0

  constructor(pids: () => readonly number[]) {
    this.#pids = pids
    this.#look(true)
    this.#timer = setInterval(() => this.#look(), 100)
  }

  #look(isFirst = false): void {
    let sumKb = 0
    for (const pid of this.#pids()) {
      try {
        const ticks = cpuTicksOf(pid)
        const known = this.#ticks.get(pid)
        // What a process that was started during the run did before it was first seen is part of it.
        this.#ticks.set(pid, { first: known?.first ?? (isFirst ? ticks : 0), last: ticks })
        // Pages that processes share are counted once: each has its part of them.
        sumKb += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
      } catch {
        // It has ended meanwhile.
      }
    }
    this.#peakKb = Math.max(this.#peakKb, sumKb)
  }

  stop(): { cpuSeconds: number; peakMb: number } {
    clearInterval(this.#timer)
    this.#look()
    const ticks = [...this.#ticks.values()].reduce((sum, { first, last }) => sum + last - first, 0)
    return { cpuSeconds: Number((ticks / TICKS_PER_SECOND).toFixed(2)), peakMb: Math.round(this.#peakKb / 1024) }
  }
}
