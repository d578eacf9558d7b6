import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { catalogSchemaOf, flushInlined, rewriteStatement } from './maintenance.ts'
import { retryConflicts } from './schema.ts'
import { DEAD_LETTERS, LATE_POSITIONS, type LakeTable, POSITIONS } from './tables.ts'

/** Rows of a van by table. A dead letter is its own by key, or since its text names it. */
export type ErasedRows = Readonly<Record<string, number>>

const TABLES: readonly LakeTable[] = [POSITIONS, LATE_POSITIONS, DEAD_LETTERS]
const ROUNDS = 5

/** The van as a JSON string: how the text of a record names it. */
function whereOf(table: LakeTable, van: string): string {
  const own = table === POSITIONS ? `van = ${literal(van)} OR ` : ''
  return `${own}key = ${literal(van)} OR contains(coalesce(value, ''), ${literal(JSON.stringify(van))})`
}

/** How many rows the lake has of a van, by table; none are left out. */
export function countVan(lake: Lake, van: string): Promise<ErasedRows> {
  return lake.use((connection) => countIn(connection, van))
}

async function countIn(connection: LakeConnection, van: string): Promise<ErasedRows> {
  const known = new Set(
    (await connection.all<{ name: string }>(`SELECT table_name AS name FROM duckdb_tables() WHERE database_name = ${literal(LAKE)}`)).map(
      ({ name }) => name,
    ),
  )
  const counts: Record<string, number> = {}
  for (const table of TABLES) {
    if (!known.has(table.name)) continue
    const [row] = await connection.all<{ n: number }>(
      `SELECT count(*)::DOUBLE AS n FROM ${LAKE}.${identifier(table.name)} WHERE ${whereOf(table, van)}`,
    )
    if (row !== undefined && row.n > 0) counts[table.name] = row.n
  }
  return counts
}

/**
 * Deletes a van's rows and writes the files anew in which they were, beside writers and readers. Older versions of the lake still hold them until
 * `forgetBefore`. Returns what was deleted. Rejects when rows come back each time: somebody still writes them.
 */
export async function eraseVan(lake: Lake, van: string): Promise<ErasedRows> {
  const erased: Record<string, number> = {}
  // What is inlined in the catalog would stay there as deleted rows.
  await flushInlined(lake)
  await lake.use(async (connection) => {
    for (let round = 1; ; round += 1) {
      const counts = await countIn(connection, van)
      if (Object.keys(counts).length === 0) return
      if (round > ROUNDS) throw new Error(`rows of the van come back in the lake (${Object.keys(counts).join(', ')}): does it still send?`)
      for (const table of TABLES.filter(({ name }) => counts[name] !== undefined)) {
        const sql = `DELETE FROM ${LAKE}.${identifier(table.name)} WHERE ${whereOf(table, van)}`
        erased[table.name] = (erased[table.name] ?? 0) + (await retryConflicts(() => connection.change(sql)))
        // Another one's merging of files, at the same moment, may bring rows back: hence the rounds.
        await retryConflicts(() => connection.run(rewriteStatement(table.name, 0)))
      }
    }
  })
  return erased
}

/**
 * Forgets the versions of the lake before `beforeMs` and deletes the files that none needs then, at once: a reader of one of them fails and may
 * read again. Bounds of columns in the catalog are taken anew from the files that are left, since they are values of rows. Returns the number of files.
 */
export async function forgetBefore(lake: Lake, beforeMs: number): Promise<number> {
  return lake.use(async (connection) => {
    const before = `to_timestamp(${beforeMs / 1000})`
    await retryConflicts(() => connection.run(`CALL ducklake_expire_snapshots(${literal(LAKE)}, older_than => ${before})`))
    const files = await connection.all(`CALL ducklake_cleanup_old_files(${literal(LAKE)}, cleanup_all => true)`)
    await renewBounds(connection, lake)
    return files.length
  })
}

/** The catalog's least and greatest value of a text column, from its files; unknown where a file has none. */
async function renewBounds(connection: LakeConnection, lake: Lake): Promise<void> {
  const schema = await catalogSchemaOf(connection, lake.settings)
  for (const bound of ['min', 'max']) {
    await connection.run(
      `UPDATE ${schema}.ducklake_table_column_stats SET ${bound}_value = (SELECT ${bound}(f.${bound}_value) FROM ${schema}.ducklake_file_column_stats f
         WHERE f.table_id = ducklake_table_column_stats.table_id AND f.column_id = ducklake_table_column_stats.column_id)
       WHERE column_id IN (SELECT c.column_id FROM ${schema}.ducklake_column c
         WHERE c.table_id = ducklake_table_column_stats.table_id AND c.column_name IN ('key', 'van', 'value', 'headers') AND c.end_snapshot IS NULL)`,
    )
  }
}
