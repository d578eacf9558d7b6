import { collectDefaultMetrics, Registry } from 'prom-client'
import type { z } from 'zod'
import { type commonEnvironment, EnvironmentError, parseEnvironment } from './environment.ts'
import { Health } from './health.ts'
import { createLogger, type Logger } from './logger.ts'
import { Shutdown } from './shutdown.ts'

export interface Program<Settings> {
  readonly settings: Settings
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
  readonly shutdown: Shutdown
}

/** Settings of this process from its environment. Ends it with code 2 and one clear message when they are wrong. */
export function environmentOrExit<Schema extends z.ZodType>(part: string, schema: Schema): z.infer<Schema> {
  try {
    return parseEnvironment(schema, process.env)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    process.stderr.write(`${part}: ${error.message}\n`)
    process.exit(2)
  }
}

/**
 * The frame of a program: settings parsed once, logger, metrics with process defaults, health, ordered shutdown on signals.
 * Ends the process with code 2 and one clear message when the settings are wrong.
 */
export function startProgram<Schema extends z.ZodType<z.infer<typeof commonEnvironment>>>(
  part: string,
  schema: Schema,
): Program<z.infer<Schema>> {
  const settings = environmentOrExit(part, schema)
  const log = createLogger(part, settings.KM0_LOG_LEVEL)
  const metrics = new Registry()
  metrics.setDefaultLabels({ part })
  collectDefaultMetrics({ register: metrics })
  const shutdown = new Shutdown(log)
  shutdown.listen()
  return { settings, log, metrics, health: new Health(), shutdown }
}
