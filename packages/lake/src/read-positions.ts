import type { DuckDBVector } from '@duckdb/node-api'
import { typedLakeError } from './errors.ts'
import { identifier, LAKE, type Lake, type LakeConnection, literal, type SqlValue } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, POSITIONS } from './tables.ts'
import { itemsOf } from './typed-columns.ts'

export interface PositionsQuery {
  /** Event time, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  /** Only these vans; absent: all. */
  readonly vans?: readonly string[]
  /** Version of the lake; absent: the newest. */
  readonly snapshot?: number
  /** With `vans`: about how many rows there are, so that they need not be counted first. */
  readonly expectedRows?: number
}

/** Positions of a range as columns, one entry a row, in no order that matters. */
export interface PositionColumns {
  readonly rowCount: number
  /** Names, in code-unit order; `van` is an index into them. Some may have no row. */
  readonly vans: readonly string[]
  readonly van: Uint32Array
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
  readonly epoch: Int32Array
  readonly partition: Int32Array
  readonly offset: Float64Array
}

/** Newest version of the lake, for reading the same rows again later. */
export async function currentSnapshot(lake: Lake): Promise<number> {
  return lake.use(async (connection) => {
    const rows = await connection.all<{ id: number }>(`SELECT id::INTEGER AS id FROM ${LAKE}.current_snapshot() AS s(id)`)
    return rows[0]?.id ?? 0
  })
}

/**
 * Reads the positions of a range into typed arrays: the fast path of the batch job. Memory is 48 bytes a row. Vans come as numbers of an
 * enumeration of their names, so that no text is made for each row.
 */
export async function readPositions(lake: Lake, query: PositionsQuery): Promise<PositionColumns> {
  return lake.use((connection) =>
    connection.transaction(async () => {
      const room = await roomFor(connection, query)
      await readInto(connection, room, query)
      return room.taken()
    }),
  )
}

/** Room for the positions of a query, whose vans it names. Within the caller's transaction, as `readInto` must be too. */
export async function roomFor(connection: LakeConnection, query: PositionsQuery): Promise<ColumnRoom> {
  const { vans, rows } = await extentOf(connection, query)
  if (vans.length > 0) await connection.run(`CREATE OR REPLACE TEMP TYPE lake_van AS ENUM (${vans.map(literal).join(', ')})`)
  return new ColumnRoom(vans, rows)
}

/** Adds the positions of a query to a room that names its vans. */
export async function readInto(connection: LakeConnection, room: ColumnRoom, query: PositionsQuery): Promise<void> {
  if (room.vans.length === 0) return
  const { where, values } = condition(query)
  await streamInto(connection, room, `SELECT ${selectedColumns} FROM ${sourceOf(query)} WHERE ${where}`, values)
}

/**
 * What a statement selects for `streamInto`. The code of the van is asked for as a number: of a column of the enumeration's type the client would
 * make all names anew for each chunk.
 */
export const selectedColumns = 'enum_code(van::lake_van)::INTEGER, event_ms::DOUBLE, lat, lon, epoch, kafka_partition, kafka_offset::DOUBLE'

/** Names that rows may have, and about how many rows: known, or counted. */
async function extentOf(connection: LakeConnection, query: PositionsQuery): Promise<{ vans: string[]; rows: number }> {
  if (query.vans !== undefined && query.expectedRows !== undefined)
    return { vans: [...new Set(query.vans)].sort(byCodeUnits), rows: query.expectedRows }
  const { where, values } = condition(query)
  const found = await connection.all<{ van: string; rows: number }>(
    `SELECT van, count(*)::DOUBLE AS rows FROM ${sourceOf(query)} WHERE ${where} GROUP BY van`,
    values,
  )
  return { vans: found.map(({ van }) => van).sort(byCodeUnits), rows: found.reduce((sum, { rows }) => sum + rows, 0) }
}

function sourceOf({ snapshot }: PositionsQuery): string {
  return `${LAKE}.${identifier(POSITIONS.name)}${snapshot === undefined ? '' : ` AT (VERSION => ${Math.trunc(snapshot)})`}`
}

/** Adds the rows of a statement that selects `selectedColumns`. */
export async function streamInto(connection: LakeConnection, room: ColumnRoom, sql: string, values: SqlValue[] = []): Promise<void> {
  try {
    const result = await connection.duckdb.stream(sql, values)
    for (;;) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) return
      room.add(chunk.rowCount, (index) => chunk.getColumnVector(index))
    }
  } catch (error) {
    throw typedLakeError(error)
  }
}

function condition(query: PositionsQuery): { where: string; values: SqlValue[] } {
  // Days are whole files; written as literals, so that files are left out before any is opened.
  const first = dayOf(query.fromMs)
  const last = dayOf(query.toMs - 1)
  const parts = [
    `kind = '${ROW_KINDS.position}'`,
    `event_day >= ${dateLiteral(first)} AND event_day <= ${dateLiteral(last)}`,
    `event_ms >= ${Math.trunc(query.fromMs)} AND event_ms < ${Math.ceil(query.toMs)}`,
  ]
  const values: SqlValue[] = []
  if (query.vans !== undefined) {
    parts.push(query.vans.length === 0 ? 'false' : `van IN (${query.vans.map(() => '?').join(', ')})`)
    values.push(...query.vans)
  }
  return { where: parts.join(' AND '), values }
}

function dateLiteral(day: number): string {
  return `DATE '${new Date(day * 86_400_000).toISOString().slice(0, 10)}'`
}

const byCodeUnits = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Columns with room for about so many rows; they grow when there are more. */
export class ColumnRoom {
  #columns: PositionColumns
  #filled = 0

  constructor(vans: readonly string[], rows: number) {
    this.#columns = emptyColumns(vans, rows)
  }

  get vans(): readonly string[] {
    return this.#columns.vans
  }

  get rowCount(): number {
    return this.#filled
  }

  /** Adds a chunk of the engine, columns in the order in which they stand here. */
  add(rows: number, vector: (index: number) => DuckDBVector): void {
    const at = this.#roomFor(rows)
    const { van, eventMs, lat, lon, epoch, partition, offset } = this.#columns
    van.set(itemsOf(vector(0), rows), at)
    eventMs.set(itemsOf(vector(1), rows), at)
    lat.set(itemsOf(vector(2), rows), at)
    lon.set(itemsOf(vector(3), rows), at)
    epoch.set(itemsOf(vector(4), rows), at)
    partition.set(itemsOf(vector(5), rows), at)
    offset.set(itemsOf(vector(6), rows), at)
  }

  /** Place of the first of so many new rows. */
  #roomFor(rows: number): number {
    const at = this.#filled
    if (at + rows > this.#columns.rowCount) {
      const larger = emptyColumns(this.vans, Math.ceil((at + rows) * 1.25))
      copyInto(larger, this.taken())
      this.#columns = larger
    }
    this.#filled += rows
    return at
  }

  /** What is in it now: views, which are not those of what is added later. */
  taken(): PositionColumns {
    return firstRows(this.#columns, this.#filled)
  }
}

function emptyColumns(vans: readonly string[], rowCount: number): PositionColumns {
  return {
    rowCount,
    vans,
    van: new Uint32Array(rowCount),
    eventMs: new Float64Array(rowCount),
    lat: new Float64Array(rowCount),
    lon: new Float64Array(rowCount),
    epoch: new Int32Array(rowCount),
    partition: new Int32Array(rowCount),
    offset: new Float64Array(rowCount),
  }
}

function copyInto(to: PositionColumns, from: PositionColumns): void {
  to.van.set(from.van)
  to.eventMs.set(from.eventMs)
  to.lat.set(from.lat)
  to.lon.set(from.lon)
  to.epoch.set(from.epoch)
  to.partition.set(from.partition)
  to.offset.set(from.offset)
}

function firstRows(columns: PositionColumns, rowCount: number): PositionColumns {
  if (rowCount === columns.rowCount) return columns
  return {
    rowCount,
    vans: columns.vans,
    van: columns.van.subarray(0, rowCount),
    eventMs: columns.eventMs.subarray(0, rowCount),
    lat: columns.lat.subarray(0, rowCount),
    lon: columns.lon.subarray(0, rowCount),
    epoch: columns.epoch.subarray(0, rowCount),
    partition: columns.partition.subarray(0, rowCount),
    offset: columns.offset.subarray(0, rowCount),
  }
}
