import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { type Engine, loadEngine } from './engine.ts'
import { isUnavailable, LakeMissingError, LakeNotInstalledError, typedLakeError } from './errors.ts'
import { ensureExtensions, type Say } from './extensions.ts'
import type { LakeSettings } from './settings.ts'

export interface OpenOptions {
  /** Refuse every change of the lake. The catalog must exist. */
  readonly readOnly?: boolean
  readonly say?: Say
}

/** Name under which the lake is attached. */
export const LAKE = 'lake'

/** An open lake. Connections are independent of each other: one for each thing that goes on at a time. */
export class Lake {
  readonly settings: LakeSettings
  readonly #engine: Engine
  readonly #instance: DuckDBInstance
  readonly #connections = new Set<DuckDBConnection>()

  constructor(settings: LakeSettings, engine: Engine, instance: DuckDBInstance) {
    this.settings = settings
    this.#engine = engine
    this.#instance = instance
  }

  async connect(): Promise<LakeConnection> {
    const connection = await this.#instance.connect()
    this.#connections.add(connection)
    return new LakeConnection(this.#engine, connection, () => this.#connections.delete(connection))
  }

  /** Gives a connection for the time of one call. */
  async use<T>(call: (connection: LakeConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect()
    try {
      return await call(connection)
    } finally {
      connection.close()
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.closeSync()
    this.#connections.clear()
    this.#instance.closeSync()
  }
}

export type SqlValue = string | number | bigint | boolean | null

/** One connection. Statements run one after the other; errors are typed and hold no password. */
export class LakeConnection {
  readonly engine: Engine
  readonly duckdb: DuckDBConnection
  readonly #onClose: () => void

  constructor(engine: Engine, duckdb: DuckDBConnection, onClose: () => void) {
    this.engine = engine
    this.duckdb = duckdb
    this.#onClose = onClose
  }

  /**
   * Rows as objects; BIGINT comes as bigint, DATE as DuckDB's value: cast in SQL what should be a number. With `values` it must be within
   * a transaction: DuckLake forgets what it prepared when one ends.
   */
  async all<Row = Record<string, SqlValue>>(sql: string, values?: SqlValue[]): Promise<Row[]> {
    try {
      const reader = await this.duckdb.runAndReadAll(sql, values)
      return reader.getRowObjectsJS() as Row[]
    } catch (error) {
      throw typedLakeError(error)
    }
  }

  async run(sql: string, values?: SqlValue[]): Promise<void> {
    await this.all(sql, values)
  }

  /** Number of rows that an INSERT, UPDATE or DELETE has touched. */
  async change(sql: string, values?: SqlValue[]): Promise<number> {
    try {
      return (await this.duckdb.run(sql, values)).rowsChanged
    } catch (error) {
      throw typedLakeError(error)
    }
  }

  /** Runs `call` in a transaction: all of it or nothing, and reads of one version of the lake. */
  async transaction<T>(call: () => Promise<T>): Promise<T> {
    await this.run('BEGIN')
    try {
      const value = await call()
      await this.run('COMMIT')
      return value
    } catch (error) {
      // A failed COMMIT has rolled back already.
      await this.run('ROLLBACK').catch(() => undefined)
      throw error
    }
  }

  close(): void {
    this.#onClose()
    this.duckdb.closeSync()
  }
}

/**
 * Opens the lake, making its catalog at the first time. Rejects with LakeNotInstalledError (DuckDB or its extensions are not to be had),
 * LakeUnavailableError (catalog or files cannot be reached), or DuckDB's own error.
 */
export async function openLake(settings: LakeSettings, options: OpenOptions = {}): Promise<Lake> {
  const engine = await loadEngine()
  const instance = await createInstance(engine, settings, options.say)
  const connection = await instance.connect()
  try {
    for (const name of ['ducklake', 'postgres']) await connection.run(`LOAD ${name}`)
    const isRemote = settings.dataPath?.startsWith('s3://') ?? false
    if (isRemote || settings.s3 !== undefined) await useObjectStore(connection, settings)
    if (settings.dataPath !== null && !isRemote) mkdirSync(settings.dataPath, { recursive: true })
    await connection.run(attachStatement(settings, options.readOnly ?? false))
    return new Lake(settings, engine, instance)
  } catch (error) {
    instance.closeSync()
    throw explained(error, settings)
  } finally {
    connection.closeSync()
  }
}

async function createInstance(engine: Engine, settings: LakeSettings, say: Say | undefined): Promise<DuckDBInstance> {
  try {
    await ensureExtensions(engine, settings.extensionsDir, say)
    mkdirSync(settings.temporaryDir, { recursive: true })
    return await engine.DuckDBInstance.create(':memory:', {
      extension_directory: settings.extensionsDir,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      temp_directory: join(settings.temporaryDir, `duckdb-${process.pid}`),
      memory_limit: `${settings.memoryLimitMib}MiB`,
      threads: String(settings.threads),
      preserve_insertion_order: 'true',
    })
  } catch (error) {
    if (error instanceof LakeNotInstalledError) throw error
    throw new LakeNotInstalledError(`DuckDB does not start on this machine: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function attachStatement(settings: LakeSettings, readOnly: boolean): string {
  const options = [
    ...(settings.dataPath === null ? [] : [`DATA_PATH ${literal(settings.dataPath)}`]),
    `METADATA_SCHEMA ${literal(settings.catalogSchema)}`,
    // Never 0: an offset is one row, and must not become a file at every append.
    `DATA_INLINING_ROW_LIMIT ${Math.max(1, Math.trunc(settings.inlineRows))}`,
    ...(readOnly ? ['READ_ONLY'] : []),
    ...(readOnly || settings.dataPath === null ? ['CREATE_IF_NOT_EXISTS false'] : []),
  ]
  return `ATTACH ${literal(`ducklake:postgres:${settings.catalogUrl}`)} AS ${LAKE} (${options.join(', ')})`
}

async function useObjectStore(connection: DuckDBConnection, settings: LakeSettings): Promise<void> {
  const { s3 } = settings
  if (s3 === undefined)
    throw new Error(`the lake's data path is ${settings.dataPath}, but key, secret and region of the object store are not set`)
  await connection.run('LOAD httpfs')
  const fields = [
    'TYPE s3',
    `KEY_ID ${literal(s3.keyId)}`,
    `SECRET ${literal(s3.secret)}`,
    `REGION ${literal(s3.region)}`,
    `USE_SSL ${s3.useTls}`,
    ...(s3.endpoint === undefined ? [] : [`ENDPOINT ${literal(s3.endpoint)}`, `URL_STYLE 'path'`]),
  ]
  await connection.run(`CREATE SECRET lake_store (${fields.join(', ')})`)
}

/** The library's error with what a person can do about it. */
function explained(error: unknown, settings: LakeSettings): Error {
  const typed = typedLakeError(error)
  if (isUnavailable(typed)) return typed
  if (/CREATE_IF_NOT_EXISTS|no DuckLake|does not exist/i.test(typed.message)) {
    return new LakeMissingError(`there is no lake in schema ${settings.catalogSchema} yet: the role \`lake\` of the stream makes it`)
  }
  if (/does not match existing data path/i.test(typed.message)) {
    return new Error(
      `${typed.message.split('\n')[0]} The lake's files were moved, or this is the catalog of another lake (schema ${settings.catalogSchema}). ` +
        'Put the files back, or give the lake the folder that its catalog names.',
    )
  }
  return typed
}

/** An SQL text literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** An SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
