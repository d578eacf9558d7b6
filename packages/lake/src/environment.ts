import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { DEFAULT_LAKE_SETTINGS, type LakeSettings } from './settings.ts'

const count = (fallback: number) => z.coerce.number().int().positive().default(fallback)

/** Settings of whatever opens the lake. */
export const lakeEnvironment = z.object({
  /** Folder of the Parquet files, or `s3://bucket/prefix`. Whoever only reads may leave it out: the catalog knows. */
  KM0_LAKE_DATA: z.string().min(1).optional(),
  /** Schema of the catalog in the database of DATABASE_URL. */
  KM0_LAKE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/)
    .default(DEFAULT_LAKE_SETTINGS.catalogSchema),
  /** Folder of DuckDB's extensions. */
  KM0_LAKE_EXTENSIONS: z.string().min(1).optional(),
  /** Folder for what does not fit into memory. */
  KM0_LAKE_TEMPORARY: z.string().min(1).optional(),
  KM0_LAKE_MEMORY_MIB: count(DEFAULT_LAKE_SETTINGS.memoryLimitMib),
  KM0_LAKE_THREADS: count(DEFAULT_LAKE_SETTINGS.threads),
  /** Appends of at most so many rows stay in the catalog until the next flush. */
  KM0_LAKE_INLINE_ROWS: z.coerce.number().int().min(1).default(DEFAULT_LAKE_SETTINGS.inlineRows),
  /** host:port of an S3-compatible store; absent: the provider's own. */
  KM0_LAKE_S3_ENDPOINT: z.string().min(1).optional(),
  KM0_LAKE_S3_REGION: z.string().min(1).default('us-east-1'),
  KM0_LAKE_S3_KEY_ID: z.string().min(1).optional(),
  KM0_LAKE_S3_SECRET: z.string().min(1).optional(),
  KM0_LAKE_S3_TLS: z.enum(['true', 'false']).default('true'),
})

export type LakeEnvironment = z.infer<typeof lakeEnvironment>

/** Where the lake is, from the environment. `cacheDir` is the user's folder of downloads. */
export function lakeSettingsOf(environment: LakeEnvironment, databaseUrl: string, cacheDir: string): LakeSettings {
  const data = environment.KM0_LAKE_DATA
  const dataPath = data === undefined ? null : /^s3:\/\//.test(data) || isAbsolute(data) ? data : resolve(data)
  const { KM0_LAKE_S3_KEY_ID: keyId, KM0_LAKE_S3_SECRET: secret, KM0_LAKE_S3_ENDPOINT: endpoint } = environment
  return {
    catalogUrl: databaseUrl,
    catalogSchema: environment.KM0_LAKE_SCHEMA,
    dataPath,
    extensionsDir: environment.KM0_LAKE_EXTENSIONS ?? resolve(cacheDir, 'duckdb'),
    temporaryDir: environment.KM0_LAKE_TEMPORARY ?? resolve(cacheDir, 'duckdb-temporary'),
    memoryLimitMib: environment.KM0_LAKE_MEMORY_MIB,
    threads: environment.KM0_LAKE_THREADS,
    inlineRows: environment.KM0_LAKE_INLINE_ROWS,
    ...(keyId === undefined || secret === undefined
      ? {}
      : {
          s3: {
            region: environment.KM0_LAKE_S3_REGION,
            keyId,
            secret,
            useTls: environment.KM0_LAKE_S3_TLS === 'true',
            ...(endpoint === undefined ? {} : { endpoint }),
          },
        }),
  }
}

/** Folder of downloads that all clones of one user share. */
export function userCacheDir(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  return environment.KM0_CACHE_DIR ?? resolve(environment.XDG_CACHE_HOME ?? resolve(home, '.cache'), 'km0')
}
