import { isConflict, isUnavailable, LakeFencedError } from './errors.ts'
import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { ensureOffset, migrate } from './schema.ts'
import { Staging } from './staging.ts'
import { type LakePlace, type LakeRow, type LakeTable, offsetsTable, placeOf, tableOfOffsets } from './tables.ts'

/** What one partition of a topic brought since the last append. */
export interface LakeBatch {
  readonly table: LakeTable
  readonly partition: number
  /** Offset at which the lake stands for this partition. */
  readonly fromOffset: number
  /** Offset at which it stands afterwards: records that the lake does not keep move it too. */
  readonly nextOffset: number
  readonly rows: readonly LakeRow[]
  /** Largest arrival time of all records, kept or not; null when there is none. */
  readonly newestArrivalMs: number | null
  readonly newestEventMs: number | null
}

/** Records that were gone before the lake had them. */
export interface LakeHole {
  readonly table: LakeTable
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  readonly foundMs: number
}

/** The epoch of a table's offsets: they begin anew when its topic, or the whole log, is replaced. */
export type EpochOf = (table: LakeTable) => number

const ATTEMPTS = 20
let writers = 0

/**
 * Appends to the lake exactly once. Rows and offsets of one call are one transaction. The offset is compared and moved in it, in a table
 * of the partition's own: of two writers that hold the same partition the second is refused, whenever it comes. A commit whose answer was
 * lost is looked up by the offset.
 */
export class LakeWriter {
  readonly #lake: Lake
  readonly #epochOf: EpochOf
  readonly #name: string
  readonly #staging = new Map<LakeTable, Staging>()
  #connection: LakeConnection | undefined
  #turn: Promise<unknown> = Promise.resolve()

  /** `epoch` of all tables, or of each. */
  constructor(lake: Lake, epoch: number | EpochOf) {
    writers += 1
    this.#lake = lake
    this.#epochOf = typeof epoch === 'number' ? () => epoch : epoch
    this.#name = String(writers)
  }

  /** Brings the lake's tables up to this version. */
  prepare(): Promise<void> {
    return this.#inTurn(async () => migrate(await this.#open()))
  }

  /** Offset at which the lake stands for a partition in this epoch; 0 when it has nothing. */
  nextOffset(table: LakeTable, partition: number): Promise<number> {
    return this.#inTurn(async () => {
      const connection = await this.#open()
      await ensureOffset(connection, table, partition, this.#epochOf(table))
      return (await this.#storedOffsets(connection, [{ table, partition }])).get(placeOf(table, partition)) ?? 0
    })
  }

  /** The same of every partition that the lake knows in this epoch, in one look: an offset by `<table>/<partition>`. */
  nextOffsets(): Promise<ReadonlyMap<string, number>> {
    return this.#inTurn(async () => {
      const connection = await this.#open()
      const stored = await connection.all<{ name: string }>(
        `SELECT table_name AS name FROM duckdb_tables() WHERE database_name = ${literal(LAKE)}`,
      )
      return this.#storedOffsets(
        connection,
        stored.flatMap(({ name }) => tableOfOffsets(name) ?? []),
      )
    })
  }

  /**
   * Stores the batches, all or none. Rejects with LakeFencedError (a partition's offset is not where the batch says; nothing was stored) or
   * LakeUnavailableError (unknown whether it was stored: the same call again is right in both cases).
   */
  append(batches: readonly LakeBatch[]): Promise<void> {
    return this.#inTurn(() => this.#append(batches))
  }

  /** Goes on after a hole in the log, and writes down that there was one. */
  skip(hole: LakeHole): Promise<void> {
    const { table, partition, fromOffset, toOffset, foundMs } = hole
    const batch = { table, partition, fromOffset, nextOffset: toOffset, rows: [], newestArrivalMs: null, newestEventMs: null }
    return this.#inTurn(() =>
      this.#append([batch], async (connection) => {
        const values = [table.name, this.#epochOf(table), partition, fromOffset, toOffset, foundMs]
        await connection.run(`INSERT INTO ${LAKE}.holes VALUES (?, ?, ?, ?, ?, ?)`, values)
      }),
    )
  }

  async #append(batches: readonly LakeBatch[], also: (connection: LakeConnection) => Promise<void> = async () => {}): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const connection = await this.#open()
        // The answer to an earlier COMMIT, of this call or of the one before it, may have been lost.
        if (await this.#isStored(connection, batches)) return
        await this.#stage(connection, batches)
        await connection.transaction(async () => {
          for (const batch of batches) await this.#move(connection, batch)
          for (const table of tablesOf(batches)) await connection.run(this.#stagingOf(connection, table).insertStatement(LAKE))
          await also(connection)
        })
        return
      } catch (error) {
        if (isUnavailable(error)) this.#reset()
        if (!isConflict(error) || attempt >= ATTEMPTS) throw error
        await new Promise((resolve) => setTimeout(resolve, Math.min(500, 20 * attempt)))
      }
    }
  }

  /** Whether every batch is in the lake already. Throws LakeFencedError when a partition stands anywhere else than before or after it. */
  async #isStored(connection: LakeConnection, batches: readonly LakeBatch[]): Promise<boolean> {
    let stored = 0
    const offsets = await this.#storedOffsets(connection, batches)
    for (const { table, partition, fromOffset, nextOffset } of batches) {
      const offset = offsets.get(placeOf(table, partition)) ?? 0
      if (offset === nextOffset && nextOffset !== fromOffset) stored += 1
      else if (offset !== fromOffset) throw fenced(table, partition, fromOffset, offset)
    }
    if (stored > 0 && stored < batches.length) {
      throw new LakeFencedError('some partitions of an append are in the lake and some are not: another writer holds some of them')
    }
    return stored > 0
  }

  async #move(connection: LakeConnection, batch: LakeBatch): Promise<void> {
    const { table, partition, fromOffset, nextOffset, rows, newestArrivalMs, newestEventMs } = batch
    const changed = await connection.change(
      `UPDATE ${LAKE}.${identifier(offsetsTable(table, partition))} SET next_offset = ?::BIGINT, row_count = row_count + ?::BIGINT,
        newest_arrival_ms = greatest(newest_arrival_ms, ?::BIGINT), newest_event_ms = greatest(newest_event_ms, ?::BIGINT)
        WHERE epoch = ? AND next_offset = ?::BIGINT`,
      [nextOffset, rows.length, newestArrivalMs, newestEventMs, this.#epochOf(table), fromOffset],
    )
    if (changed !== 1) throw fenced(table, partition, fromOffset, null)
  }

  async #stage(connection: LakeConnection, batches: readonly LakeBatch[]): Promise<void> {
    for (const table of tablesOf(batches)) {
      const rows = batches.flatMap((batch) => (batch.table === table ? [batch.rows] : []))
      await this.#stagingOf(connection, table).fill(rows.length === 1 && rows[0] !== undefined ? rows[0] : rows.flat())
    }
  }

  #stagingOf(connection: LakeConnection, table: LakeTable): Staging {
    const known = this.#staging.get(table)
    if (known !== undefined) return known
    const staging = new Staging(connection, table, this.#name)
    this.#staging.set(table, staging)
    return staging
  }

  /** By place, in one statement: one for each partition takes seconds on a busy machine. What has no offset in this epoch is left out. */
  async #storedOffsets(connection: LakeConnection, places: readonly LakePlace[]): Promise<ReadonlyMap<string, number>> {
    if (places.length === 0) return new Map()
    const looks = places.map(({ table, partition }) => {
      const name = identifier(offsetsTable(table, partition))
      return `SELECT ${literal(placeOf(table, partition))} AS place, next_offset::DOUBLE AS next FROM ${LAKE}.${name} WHERE epoch = ${this.#epochOf(table)}`
    })
    const rows = await connection.all<{ place: string; next: number }>(looks.join(' UNION ALL '))
    return new Map(rows.map(({ place, next }) => [place, next]))
  }

  async #open(): Promise<LakeConnection> {
    this.#connection ??= await this.#lake.connect()
    return this.#connection
  }

  /** A connection that has seen a broken catalog is not used again. */
  #reset(): void {
    this.#connection?.close()
    this.#connection = undefined
    this.#staging.clear()
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(call)
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** Waits for what is in work. */
  close(): Promise<void> {
    return this.#inTurn(async () => this.#reset())
  }
}

function tablesOf(batches: readonly LakeBatch[]): Set<LakeTable> {
  return new Set(batches.filter((batch) => batch.rows.length > 0).map((batch) => batch.table))
}

function fenced(table: LakeTable, partition: number, expected: number, found: number | null): LakeFencedError {
  const where = found === null ? 'is no longer there' : `is at ${found}`
  return new LakeFencedError(`partition ${partition} of ${table.name} ${where}, not at ${expected}: another writer has taken it over`)
}
