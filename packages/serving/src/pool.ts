import pg from 'pg'

export type Client = pg.PoolClient

/** The database is away or busy; the same call again may succeed. */
export class ServingUnavailableError extends Error {
  override readonly name = 'ServingUnavailableError'
}

/** PostgreSQL's names for a schema and a table that are not there. */
const MISSING: ReadonlySet<unknown> = new Set(['3F000', '42P01'])

/** Whether a statement was refused since the tables are not made yet: at the first start another program is about to make them. */
export function isSchemaMissing(error: unknown): boolean {
  return error instanceof Error && MISSING.has((error as { readonly code?: unknown }).code)
}

export interface PoolOptions {
  readonly databaseUrl: string
  /** Shown by the server beside each connection. */
  readonly applicationName: string
  /** Connections at most. Default 4. */
  readonly maxConnections?: number
  readonly connectTimeoutMs?: number
  readonly statementTimeoutMs?: number
  /** An idle connection was lost: the pool makes a new one when it needs one. */
  readonly onError?: (error: Error) => void
}

/** int8 as a number. Throws a RangeError beyond 2^53, where numbers stop being exact. */
export function parseInt8(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} from the database is beyond 2^53`)
  return number
}

/** numeric as a number; a whole one must be exact, as for int8. */
export function parseNumeric(text: string): number {
  return /^-?\d+$/.test(text) ? parseInt8(text) : Number(text)
}

const INT8 = 20
const NUMERIC = 1700
/** https://github.com/brianc/node-pg-types: arrays of these come as texts, whatever the parser of their elements. */
const INT8_ARRAY = 1016
const NUMERIC_ARRAY = 1231

const elementParsers = new Map([
  [INT8_ARRAY, parseInt8],
  [NUMERIC_ARRAY, parseNumeric],
])

const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === INT8) return parseInt8
    if (format !== 'binary' && oid === NUMERIC) return parseNumeric
    const parseElement = elementParsers.get(oid)
    if (format !== 'binary' && parseElement !== undefined) {
      const parseTexts: (text: string) => (string | null)[] = pg.types.getTypeParser(oid, 'text')
      return (text: string) => parseTexts(text).map((element) => (element === null ? null : parseElement(element)))
    }
    return pg.types.getTypeParser(oid, format as 'text')
  }) as typeof pg.types.getTypeParser,
}

/** A bare pool of pg, for a library that brings its own statements. Whoever opens it ends it. */
export function openPgPool(options: PoolOptions & { readonly schema?: string }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    max: options.maxConnections ?? 4,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    statement_timeout: options.statementTimeoutMs ?? 60_000,
    idleTimeoutMillis: 30_000,
    types,
    ...(options.schema === undefined ? {} : { options: `-c search_path=${options.schema}` }),
  })
  pool.on('error', (error) => options.onError?.(error))
  // A client that is out of the pool while its server stops tells it twice: by the query, and by this event.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** A connection pool. Without its error handler a server that stops would end this process. */
export class Pool {
  readonly #pool: pg.Pool

  constructor(options: PoolOptions) {
    this.#pool = openPgPool(options)
  }

  /** Runs one statement. Rejects with ServingUnavailableError when the database is away. */
  async query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    try {
      return (await this.#pool.query<Row>(text, [...values])).rows
    } catch (error) {
      throw typedError(error)
    }
  }

  /** Runs `work` on one connection, between `begin` and COMMIT; ROLLBACK when it throws. */
  async transaction<T>(begin: string, work: (client: Client) => Promise<T>): Promise<T> {
    return this.withClient(async (client) => {
      await client.query(begin)
      try {
        const result = await work(client)
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback').catch(() => undefined)
        throw error
      }
    })
  }

  async withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    let client: Client | undefined
    let broken = false
    try {
      client = await this.#pool.connect()
      return await work(client)
    } catch (error) {
      const typed = typedError(error)
      broken = typed instanceof ServingUnavailableError
      throw typed
    } finally {
      client?.release(broken)
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

/** SQLSTATE classes that pass by themselves: connection, resources, operator intervention; and serialization failure, deadlock. */
const PASSING = /^(08|53|57|40001$|40P01$)/

function typedError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const lost = /terminated|timeout exceeded when trying to connect|Connection ended|not queryable/i.test(error.message)
  if ('syscall' in error || error instanceof AggregateError || PASSING.test(code) || lost) {
    return new ServingUnavailableError(error.message === '' ? code : error.message, { cause: error })
  }
  return error
}
