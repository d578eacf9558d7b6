import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { DayPartitions } from '../day-partitions.ts'
import { DAY_MS } from '../day-partitions.ts'
import type { Client, Pool } from '../pool.ts'
import { COPIED_COLUMNS, type PieceRows, type VersionTable } from './piece-rows.ts'

/** `stored`: by this call. `done`: another run of the same piece came first. `stopped`: the version runs no more. */
export type PieceOutcome = 'stored' | 'done' | 'stopped'

/**
 * Stores the rows of a piece and that it is done, in one transaction: however often and by however many a piece is run, its rows are there once.
 */
export async function storePiece(
  pool: Pool,
  days: DayPartitions,
  version: number,
  piece: number,
  rowsOfPiece: PieceRows,
  atMs: number,
): Promise<PieceOutcome> {
  for (const table of ['version_distance', 'version_session', 'version_alert'] as const)
    await days.ensure(
      table,
      [...rowsOfPiece.days(table)].map((day) => day * DAY_MS),
    )
  return pool.transaction('begin', async (client) => {
    const { rows } = await client.query<{ done: boolean; state: string }>(
      `select p.done, v.state from km0.version_piece p join km0.version v on v.id = p.version
       where p.version = $1 and p.piece = $2 for update of p`,
      [version, piece],
    )
    if (rows[0] === undefined || rows[0].state !== 'running') return 'stopped'
    if (rows[0].done) return 'done'
    for (const [table, chunks] of rowsOfPiece.copies()) await copyInto(client, table, chunks)
    await client.query(
      'update km0.version_piece set done = true, share = 1, rows = $3, done_at_ms = $4 where version = $1 and piece = $2',
      [version, piece, rowsOfPiece.rowCount, atMs],
    )
    return 'stored'
  })
}

async function copyInto(client: Client, table: VersionTable, chunks: readonly Buffer[]): Promise<void> {
  const copy = client.query(copyFrom(`copy km0.${table} (${COPIED_COLUMNS[table]}) from stdin (format binary)`))
  await pipeline(Readable.from(chunks), copy)
}
