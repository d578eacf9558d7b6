import type { DuckDBVector } from '@duckdb/node-api'
import { typedLakeError } from './errors.ts'
import { identifier, LAKE, type Lake, type LakeConnection, literal, type SqlValue } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, POSITIONS } from './tables.ts'

export interface PositionsQuery {
  /** Event time, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  /** Only these vans; absent: all. */
  readonly vans?: readonly string[]
  /** Version of the lake; absent: the newest. */
  readonly snapshot?: number
}

/** Positions of a range as columns, one entry a row, in no order that matters. */
export interface PositionColumns {
  readonly rowCount: number
  /** Names, in code-unit order; `van` is an index into them. */
  readonly vans: readonly string[]
  readonly van: Uint16Array | Uint32Array
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
  readonly epoch: Int32Array
  readonly partition: Int32Array
  readonly offset: Float64Array
}

const FIRST_CAPACITY = 65_536

/** Newest version of the lake, for reading the same rows again later. */
export async function currentSnapshot(lake: Lake): Promise<number> {
  return lake.use(async (connection) => {
    const rows = await connection.all<{ id: number }>(`SELECT id::INTEGER AS id FROM ${LAKE}.current_snapshot() AS s(id)`)
    return rows[0]?.id ?? 0
  })
}

/**
 * Reads the positions of a range into typed arrays: the fast path of the batch job. Memory is 44 bytes a row. Vans come as numbers of an
 * enumeration that the engine makes of the range's names, so that no text is made for each row.
 */
export async function readPositions(lake: Lake, query: PositionsQuery): Promise<PositionColumns> {
  return lake.use(async (connection) => {
    const { where, values } = condition(query)
    const columns = await connection.transaction(() => readInto(connection, query, where, values))
    return columns.taken()
  })
}

async function readInto(connection: LakeConnection, query: PositionsQuery, where: string, values: SqlValue[]): Promise<GrowingColumns> {
  const source = `${LAKE}.${identifier(POSITIONS.name)}${query.snapshot === undefined ? '' : ` AT (VERSION => ${Math.trunc(query.snapshot)})`}`
  const found = await connection.all<{ van: string }>(`SELECT van FROM ${source} WHERE ${where} GROUP BY van`, values)
  const vans = found.map((row) => row.van).sort(byCodeUnits)
  const columns = new GrowingColumns(vans)
  if (vans.length === 0) return columns
  await connection.run(`CREATE OR REPLACE TEMP TYPE lake_van AS ENUM (${vans.map(literal).join(', ')})`)
  const sql = `SELECT van::lake_van, event_ms::DOUBLE, lat, lon, epoch, kafka_partition, kafka_offset::DOUBLE FROM ${source} WHERE ${where}`
  await streamInto(connection, sql, values, columns)
  return columns
}

async function streamInto(connection: LakeConnection, sql: string, values: SqlValue[], columns: GrowingColumns): Promise<void> {
  try {
    const result = await connection.duckdb.stream(sql, values)
    for (;;) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) return
      columns.add(chunk.rowCount, (index) => chunk.getColumnVector(index))
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

/** Arrays that double when they are full; views of them are given out in the end. */
class GrowingColumns {
  readonly #vans: readonly string[]
  #rowCount = 0
  #van: Uint16Array | Uint32Array
  #eventMs = new Float64Array(FIRST_CAPACITY)
  #lat = new Float64Array(FIRST_CAPACITY)
  #lon = new Float64Array(FIRST_CAPACITY)
  #epoch = new Int32Array(FIRST_CAPACITY)
  #partition = new Int32Array(FIRST_CAPACITY)
  #offset = new Float64Array(FIRST_CAPACITY)

  constructor(vans: readonly string[]) {
    this.#vans = vans
    this.#van = vans.length <= 65_536 ? new Uint16Array(FIRST_CAPACITY) : new Uint32Array(FIRST_CAPACITY)
  }

  add(rows: number, vector: (index: number) => DuckDBVector): void {
    if (this.#rowCount + rows > this.#van.length) this.#grow(this.#rowCount + rows)
    const at = this.#rowCount
    this.#van.set(itemsOf(vector(0), rows), at)
    this.#eventMs.set(itemsOf(vector(1), rows), at)
    this.#lat.set(itemsOf(vector(2), rows), at)
    this.#lon.set(itemsOf(vector(3), rows), at)
    this.#epoch.set(itemsOf(vector(4), rows), at)
    this.#partition.set(itemsOf(vector(5), rows), at)
    this.#offset.set(itemsOf(vector(6), rows), at)
    this.#rowCount += rows
  }

  #grow(least: number): void {
    const capacity = Math.max(least, this.#van.length * 2)
    const van = this.#van instanceof Uint16Array ? new Uint16Array(capacity) : new Uint32Array(capacity)
    van.set(this.#van)
    this.#van = van
    this.#eventMs = grown(this.#eventMs, new Float64Array(capacity))
    this.#lat = grown(this.#lat, new Float64Array(capacity))
    this.#lon = grown(this.#lon, new Float64Array(capacity))
    this.#epoch = grown(this.#epoch, new Int32Array(capacity))
    this.#partition = grown(this.#partition, new Int32Array(capacity))
    this.#offset = grown(this.#offset, new Float64Array(capacity))
  }

  taken(): PositionColumns {
    const rowCount = this.#rowCount
    return {
      rowCount,
      vans: this.#vans,
      van: this.#van.subarray(0, rowCount),
      eventMs: this.#eventMs.subarray(0, rowCount),
      lat: this.#lat.subarray(0, rowCount),
      lon: this.#lon.subarray(0, rowCount),
      epoch: this.#epoch.subarray(0, rowCount),
      partition: this.#partition.subarray(0, rowCount),
      offset: this.#offset.subarray(0, rowCount),
    }
  }
}

function grown<Numbers extends Float64Array | Int32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from)
  return to
}

/** The numbers of a column (the codes of an enumeration's), a view of the engine's memory that lives as long as its chunk. */
function itemsOf(vector: DuckDBVector, rows: number): ArrayLike<number> {
  const { items } = vector as unknown as { readonly items?: Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array }
  if (items === undefined) throw new TypeError(`a column of the lake came as ${vector.constructor.name}, which has no numbers`)
  return items.subarray(0, rows)
}
