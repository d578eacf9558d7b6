import { LakeReadOnlyError, typedLakeError } from './errors.ts'
import { LAKE, type Lake } from './lake.ts'

export interface QueryResult {
  readonly columns: readonly string[]
  /** Values as text, null for NULL. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** There were more rows than the limit. */
  readonly isCut: boolean
}

/**
 * Runs one reading statement; tables are named without prefix (`SELECT count(*) FROM positions`). Rejects with LakeReadOnlyError for
 * anything else: open the lake read-only all the same, since a SELECT can call functions.
 */
export async function queryLake(lake: Lake, sql: string, maxRows: number): Promise<QueryResult> {
  return lake.use(async (connection) => {
    const { SELECT, EXPLAIN } = connection.engine.StatementType
    await connection.run(`USE ${LAKE}`)
    try {
      const statements = await connection.duckdb.extractStatements(sql)
      if (statements.count !== 1) throw new LakeReadOnlyError(`one statement at a time, not ${statements.count}`)
      const prepared = await statements.prepare(0)
      if (prepared.statementType !== SELECT && prepared.statementType !== EXPLAIN)
        throw new LakeReadOnlyError('only SELECT, FROM, WITH, DESCRIBE and EXPLAIN are run here: the lake is written by its job alone')
      prepared.destroySync()
      const reader = await connection.duckdb.streamAndReadUntil(sql, maxRows + 1)
      const all = reader.getRowsJson()
      return {
        columns: reader.columnNames(),
        rows: all
          .slice(0, maxRows)
          .map((row) => row.map((value) => (value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)))),
        isCut: all.length > maxRows,
      }
    } catch (error) {
      if (error instanceof LakeReadOnlyError) throw error
      throw typedLakeError(error)
    }
  })
}
