import { readdirSync, readFileSync } from 'node:fs'
import { cpuTicksOf, TICKS_PER_SECOND } from './proc.ts'

interface Sample {
  readonly name: string
  readonly ticks: number
}

/** What processes of a name spent. */
export interface Share {
  readonly name: string
  readonly cpuSeconds: number
  /** Of one core, between the two looks. */
  readonly percent: number
}

/** CPU of processes by name between two looks. `nameOf` says what a command line is; null leaves it out. */
export class ProcessCpu {
  readonly #nameOf: (pid: number, command: string) => string | null
  readonly #first: ReadonlyMap<number, Sample>
  readonly #startMs = performance.now()

  constructor(nameOf: (pid: number, command: string) => string | null) {
    this.#nameOf = nameOf
    this.#first = this.#look()
  }

  /** Highest first; names that several processes share are summed. */
  shares(): Share[] {
    const seconds = (performance.now() - this.#startMs) / 1_000
    const byName = new Map<string, number>()
    for (const [pid, { name, ticks }] of this.#look()) {
      const spent = ticks - (this.#first.get(pid)?.ticks ?? 0)
      byName.set(name, (byName.get(name) ?? 0) + spent / TICKS_PER_SECOND)
    }
    return [...byName]
      .map(([name, cpuSeconds]) => ({ name, cpuSeconds, percent: Math.round((cpuSeconds / seconds) * 100) }))
      .sort((a, b) => b.cpuSeconds - a.cpuSeconds)
  }

  #look(): Map<number, Sample> {
    const found = new Map<number, Sample>()
    for (const pid of readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)) {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const name = this.#nameOf(pid, command)
        if (name === null) continue
        found.set(pid, { name, ticks: cpuTicksOf(pid) })
      } catch {
        // It has ended meanwhile.
      }
    }
    return found
  }
}

/** Whether a process descends from another. */
export function descendsFrom(pid: number, ancestor: number): boolean {
  for (let one = pid, steps = 0; one > 1 && steps < 20; steps += 1) {
    if (one === ancestor) return true
    try {
      one = Number(readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
    } catch {
      return false
    }
  }
  return false
}
