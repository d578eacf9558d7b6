import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/**
 * A structured logger that writes JSON lines to standard output. `part` names the program and role (`stream-positions`).
 * Positions of people are personal data: no payload is logged above level debug.
 */
export function createLogger(part: string, level: string): Logger {
  return pino({ level, base: { part }, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } })
}
