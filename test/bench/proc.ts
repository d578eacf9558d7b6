import { readFileSync } from 'node:fs'

/** Of Linux, as /proc counts. */
export const TICKS_PER_SECOND = 100

/** CPU time of a process so far, in ticks (proc(5): utime and stime). Throws when it has ended. */
export function cpuTicksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

/** Highest resident memory of a process so far, in MB of 2^20 bytes. Throws when it has ended, also while its parent has not taken note. */
export function peakRssMbOf(pid: number): number {
  const peakKb = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (peakKb === undefined) throw new Error(`process ${pid} has no memory any more`)
  return Math.round(Number(peakKb) / 1024)
}

/** What a process has cost so far. Throws when it has ended. */
export function usageOf(pid: number): { readonly cpuSeconds: number; readonly peakRssMb: number } {
  return { cpuSeconds: cpuTicksOf(pid) / TICKS_PER_SECOND, peakRssMb: peakRssMbOf(pid) }
}
