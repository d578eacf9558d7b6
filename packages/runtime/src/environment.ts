import { z } from 'zod'
import { connectionVariables } from './connections.ts'
import { withFiles } from './secret-files.ts'

/** What every program of the platform reads from its environment. Each app extends it with its own settings. */
export const commonEnvironment = z.object({
  KAFKA_BROKERS: z
    .string()
    .default('127.0.0.1:9092')
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(z.string().regex(/^(kafkas?:\/\/(\S*@)?)?([^\s:]+|\[[^\]]+\]):\d+([/?]\S*)?$/, 'each broker is host:port')).min(1)),
  DATABASE_URL: z.string().default('postgres://postgres@127.0.0.1:5432/km0').describe('PostgreSQL address'),
  REDIS_URL: z.string().default('redis://127.0.0.1:6379').describe('Redis address'),
  MQTT_URL: z.string().default('mqtt://127.0.0.1:1883').describe('MQTT broker address'),
  KM0_HTTP_HOST: z.string().default('127.0.0.1').describe('address on which health and metrics (and the panel) listen'),
  KM0_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).default(0).describe('port of it; 0 takes a free one'),
  KM0_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** `play`: the player owns the clock. */
  KM0_CLOCK: z.enum(['machine', 'play']).default('machine'),
  /** How long a partition may be without a heartbeat before it is an outage of ours. One for all programs of a platform. */
  KM0_OUTAGE_AFTER_MS: z.coerce.number().int().min(15_000).default(60_000),
  KM0_DATA_DIR: z.string().default('.km0/data').describe('folder for data of this program'),
})

export type CommonEnvironment = z.infer<typeof commonEnvironment>

/** The environment does not fit the schema; the message names each variable and what is wrong with it. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

/**
 * Parses the environment once, at start. Variables that are set but empty count as not set; any setting may be given as a file instead
 * (`NAME_FILE`); addresses come with the credentials and certificates that are set for them (`connectionVariables`).
 * Throws EnvironmentError with a line per variable that is wrong.
 */
export function parseEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  variables: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const wrong: string[] = []
  const given = withFiles(connectionVariables(variables, wrong), schema, wrong)
  const parsed = schema.safeParse(given)
  if (parsed.success && wrong.length === 0) return parsed.data
  const lines = [...wrong, ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`)]
  throw new EnvironmentError(`settings from the environment are wrong:\n  ${lines.join('\n  ')}`)
}
