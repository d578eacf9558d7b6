import type { DuckDBVector } from '@duckdb/node-api'
import { typedLakeError } from './errors.ts'
import type { LakeConnection } from './lake.ts'

const FIRST_CAPACITY = 16_384

/** Numbers of a statement's columns, one array a column; NULL is NaN. */
export interface NumberColumns {
  readonly rowCount: number
  readonly columns: readonly Float64Array[]
}

/** A read was given up: nobody waits for it any more, or it has taken too long. */
export class LakeInterruptedError extends Error {
  override readonly name = 'LakeInterruptedError'
}

/**
 * Runs a statement whose columns are all DOUBLE (cast in SQL) and gathers them without an object a row. Rejects with LakeInterruptedError when
 * `signal` is aborted; the engine stops at once then.
 */
export async function readNumbers(
  connection: LakeConnection,
  sql: string,
  columnCount: number,
  signal?: AbortSignal,
): Promise<NumberColumns> {
  return interruptible(connection, signal, async () => {
    let capacity = FIRST_CAPACITY
    let rowCount = 0
    let columns = Array.from({ length: columnCount }, () => new Float64Array(capacity))
    const result = await connection.duckdb.stream(sql)
    for (;;) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) break
      if (rowCount + chunk.rowCount > capacity) {
        capacity = Math.max(capacity * 2, rowCount + chunk.rowCount)
        columns = columns.map((column) => grown(column, capacity))
      }
      for (const [index, column] of columns.entries()) {
        const vector = chunk.getColumnVector(index)
        column.set(itemsOf(vector, chunk.rowCount), rowCount)
        for (let row = 0; row < chunk.rowCount; row += 1) if (vector.getItem(row) === null) column[rowCount + row] = Number.NaN
      }
      rowCount += chunk.rowCount
    }
    return { rowCount, columns: columns.map((column) => column.subarray(0, rowCount)) }
  })
}

/** Runs `read` on a connection; an abort of `signal` makes the engine give up what it does there. */
export async function interruptible<T>(connection: LakeConnection, signal: AbortSignal | undefined, read: () => Promise<T>): Promise<T> {
  const given = () => new LakeInterruptedError('the read of the lake was given up')
  if (signal?.aborted) throw given()
  const interrupt = () => connection.duckdb.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    return await read()
  } catch (error) {
    throw signal?.aborted ? given() : typedLakeError(error)
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

/** The numbers of a column, a view of the engine's memory that lives as long as its chunk. */
export function itemsOf(vector: DuckDBVector, rows: number): ArrayLike<number> {
  const { items } = vector as unknown as { readonly items?: Float64Array | Int32Array }
  if (items === undefined) throw new TypeError(`a column of the lake came as ${vector.constructor.name}, which has no numbers`)
  return items.subarray(0, rows)
}

function grown(column: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const next = new Float64Array(capacity)
  next.set(column)
  return next
}
