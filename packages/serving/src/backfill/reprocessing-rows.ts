import { type DistanceValue, BACKFILL_HOUR_MS as HOUR_MS, type SessionValue } from '@km0/contracts'
import { bulkInsert, type Column, replacing } from '../bulk-insert.ts'
import type { DayPartitions } from '../day-partitions.ts'
import type { Client } from '../pool.ts'
import type { Reprocessing } from './reprocessing.ts'

/** What a stretch of one partition's log brought. */
export interface PartitionAdvance {
  readonly partition: number
  readonly fromOffset: number
  readonly nextOffset: number
  readonly finalMs: number | null
  readonly snapshot: string
  readonly openSessions: Readonly<Record<string, number>>
  readonly points: number
  /** In order of emission: the last of a key counts. */
  readonly distances: readonly DistanceValue[]
  readonly sessions: readonly SessionValue[]
}

/** Sessions that are open are stored too, so that publishing holds them back: with no position, which no real session has. */
const OPEN = 0

/** Makes room for the rows of an advance. `write` stores them within a transaction. */
export async function storeRows(
  days: DayPartitions,
  { version, fromMs }: Reprocessing,
  parts: readonly PartitionAdvance[],
): Promise<{ readonly vans: readonly string[]; write(client: Client): Promise<void> }> {
  const distances = newest(
    parts.flatMap((part) => part.distances).filter((row) => row.fi_ms > fromMs),
    (row) => `${row.repartidor}|${row.fi_ms}`,
  )
  const sessions = newest(
    parts.flatMap((part) => part.sessions).filter((row) => row.inici_ms >= fromMs),
    (row) => `${row.repartidor}|${row.inici_ms}`,
  )
  await days.ensure(
    'version_distance',
    distances.map((row) => row.fi_ms),
  )
  await days.ensure('version_session', [
    ...sessions.map((row) => row.inici_ms),
    ...parts.flatMap((part) => Object.values(part.openSessions)).map((ms) => Math.max(fromMs, ms)),
  ])
  const vans = [...new Set([...distances, ...sessions].map((row) => row.repartidor))]
  return {
    vans,
    write: async (client) => {
      await upsert(client, 'version_distance', ['version', 'van', 'window_end_ms'], distanceColumns(version, distances))
      await upsert(client, 'version_session', ['version', 'van', 'start_ms'], sessionColumns(version, sessions))
    },
  }
}

function newest<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}

function distanceColumns(version: number, rows: readonly DistanceValue[]): Column[] {
  return [
    { name: 'version', type: 'bigint', values: rows.map(() => version) },
    { name: 'hour_ms', type: 'bigint', values: rows.map((row) => hourOf(row.fi_ms - 1)) },
    { name: 'van', type: 'text', values: rows.map((row) => row.repartidor) },
    { name: 'window_start_ms', type: 'bigint', values: rows.map((row) => row.inici_ms) },
    { name: 'window_end_ms', type: 'bigint', values: rows.map((row) => row.fi_ms) },
    { name: 'distance_mm', type: 'bigint', values: rows.map((row) => row.distancia_mm) },
    { name: 'positions', type: 'integer', values: rows.map((row) => row.posicions) },
    { name: 'jumps', type: 'integer', values: rows.map((row) => row.salts) },
    { name: 'displacement_mm', type: 'bigint', values: rows.map((row) => row.desplacament_mm) },
  ]
}

type SessionRow = Pick<SessionValue, 'repartidor' | 'inici_ms' | 'fi_ms' | 'posicions'>

function sessionColumns(version: number, rows: readonly SessionRow[]): Column[] {
  return [
    { name: 'version', type: 'bigint', values: rows.map(() => version) },
    { name: 'hour_ms', type: 'bigint', values: rows.map((row) => hourOf(row.inici_ms)) },
    { name: 'van', type: 'text', values: rows.map((row) => row.repartidor) },
    { name: 'start_ms', type: 'bigint', values: rows.map((row) => row.inici_ms) },
    { name: 'end_ms', type: 'bigint', values: rows.map((row) => row.fi_ms) },
    { name: 'positions', type: 'integer', values: rows.map((row) => row.posicions) },
  ]
}

async function upsert(client: Client, table: string, key: readonly string[], columns: readonly Column[]): Promise<void> {
  const rest = columns.map(({ name }) => name).filter((name) => !key.includes(name))
  await bulkInsert(client, table, columns, `(${key.join(', ')}) do update set ${replacing(rest)}`)
}

/** Replaces the open sessions of a version by those of now, all partitions together; `storeRows` has made room for them. */
export async function storeOpenSessions(client: Client, { name, version, fromMs }: Reprocessing, finalMs: number): Promise<void> {
  await client.query('delete from km0.version_session where version = $1 and positions = $2', [version, OPEN])
  const { rows } = await client.query<{ open: Record<string, number> }>(
    'select open_sessions as open from km0.reprocessing_partition where name = $1',
    [name],
  )
  const open = rows
    .flatMap((row) => Object.entries(row.open))
    .map(([repartidor, startMs]) => ({
      repartidor,
      inici_ms: Math.max(fromMs, startMs),
      fi_ms: Math.max(finalMs, startMs, fromMs),
      posicions: OPEN,
    }))
  // A session that is closed may begin at the same instant: the row that is real stays.
  await bulkInsert(client, 'version_session', sessionColumns(version, open), '(version, van, start_ms) do nothing')
}

const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS
