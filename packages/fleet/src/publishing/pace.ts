/** How fast simulated time passes: `speed` times as fast as the machine's from a beginning in the past, until both meet; then together. */
export interface Pace {
  /** Simulated time at the beginning. */
  readonly fromMs: number
  /** The machine's time at the beginning. */
  readonly machineMs: number
  /** Infinity: as fast as it goes. */
  readonly speed: number
}

/** The machine's time at which a simulated instant is due. Never before it: the simulation does not run ahead of the machine. */
export function dueMs(pace: Pace, simulatedMs: number): number {
  return Math.max(simulatedMs, pace.machineMs + (simulatedMs - pace.fromMs) / pace.speed)
}

/** True from the instant on at which both clocks have met. */
export function hasMet(pace: Pace, simulatedMs: number): boolean {
  return pace.machineMs + (simulatedMs - pace.fromMs) / pace.speed <= simulatedMs
}
