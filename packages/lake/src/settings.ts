/** How a program reaches the lake. */
export interface LakeSettings {
  /** PostgreSQL address of the catalog, `postgres://…`. */
  readonly catalogUrl: string
  /** Schema of the catalog's tables in that database. */
  readonly catalogSchema: string
  /** Folder (absolute), or `s3://bucket/prefix`, of the Parquet files; null: where the catalog says, for a lake that exists. */
  readonly dataPath: string | null
  /** Folder of DuckDB's extensions; made and filled when it is missing. */
  readonly extensionsDir: string
  /** Folder for what does not fit into memory. */
  readonly temporaryDir: string
  readonly memoryLimitMib: number
  readonly threads: number
  /** An append of at most so many rows stays in the catalog until the next flush. At least 1. */
  readonly inlineRows: number
  /** Only for `s3://`. */
  readonly s3?: S3Settings
}

export interface S3Settings {
  /** host:port; absent: the provider's own. */
  readonly endpoint?: string
  readonly region: string
  readonly keyId: string
  readonly secret: string
  readonly useTls: boolean
}

export const DEFAULT_LAKE_SETTINGS = {
  catalogSchema: 'lake',
  memoryLimitMib: 512,
  threads: 2,
  inlineRows: 2_000,
} as const
