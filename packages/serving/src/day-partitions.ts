import type { Client, Pool } from './pool.ts'

export const DAY_MS = 86_400_000

/** Tables with one partition a day of UTC. */
export const DAY_TABLES = [
  'distance_row',
  'session_row',
  'track_point',
  'stock_alert',
  'stock_history',
  'late_point',
  'version_distance',
  'version_session',
  'version_alert',
] as const

export type DayTable = (typeof DAY_TABLES)[number]

const LOCK = 8_271_828_182_846

/** Name of a day's partition; `day` counts days since 1970. */
export function partitionName(table: DayTable, day: number): string {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')
  return `${table}_${date}`
}

/** The day of a partition's name; null when it is none of this table. */
export function partitionDay(table: DayTable, name: string): number | null {
  const match = new RegExp(`^${table}_(\\d{4})(\\d{2})(\\d{2})$`).exec(name)
  if (match === null) return null
  const [year, month, date] = match.slice(1).map(Number)
  return Math.floor(Date.UTC(year ?? 0, (month ?? 1) - 1, date ?? 1) / DAY_MS)
}

/** SQLSTATE check_violation: no partition of relation found for row. */
const NO_PARTITION = '23514'

/** Makes partitions when rows need them, and remembers which there are. */
export class DayPartitions {
  readonly #pool: Pool
  readonly #known = new Set<string>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Makes the partitions that hold these times. Outside of the transaction that writes: the parent table is locked only for a moment. */
  async ensure(table: DayTable, timesMs: Iterable<number>): Promise<void> {
    const days = new Set<number>()
    for (const timeMs of timesMs) days.add(Math.floor(timeMs / DAY_MS))
    const missing = [...days].filter((day) => !this.#known.has(partitionName(table, day)))
    if (missing.length === 0) return
    await this.#pool.transaction('begin', async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [LOCK])
      for (const day of missing) {
        const bounds = `from (${day * DAY_MS}) to (${(day + 1) * DAY_MS})`
        await client.query(`create table if not exists km0.${partitionName(table, day)} partition of km0.${table} for values ${bounds}`)
      }
    })
    for (const day of missing) this.#known.add(partitionName(table, day))
  }

  /** Drops the partitions of days that ended before `beforeMs`. Returns their names. */
  async dropBefore(table: DayTable, beforeMs: number): Promise<string[]> {
    return this.#pool.transaction('begin', async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [LOCK])
      const old = endedBefore(table, await partitionsOf(client, table), beforeMs)
      for (const name of old) {
        await client.query(`drop table km0.${name}`)
        this.#known.delete(name)
      }
      return old
    })
  }

  /** Names of a table's partitions. */
  names(table: DayTable): Promise<string[]> {
    return this.#pool.withClient((client) => partitionsOf(client, table))
  }

  /** Names of the partitions that `dropBefore` would drop. */
  async before(table: DayTable, beforeMs: number): Promise<string[]> {
    return endedBefore(table, await this.names(table), beforeMs)
  }

  /** Runs `write`. A day's partition may have been dropped by another program since it was seen: then it is made again, once. */
  async retrying<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === NO_PARTITION)) throw error
      this.#known.clear()
      return write()
    }
  }
}

function endedBefore(table: DayTable, names: readonly string[], beforeMs: number): string[] {
  return names.filter((name) => {
    const day = partitionDay(table, name)
    return day !== null && (day + 1) * DAY_MS <= beforeMs
  })
}

async function partitionsOf(client: Client, table: DayTable): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass order by 1`,
    [`km0.${table}`],
  )
  return rows.map((row) => row.name)
}
