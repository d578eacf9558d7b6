import { Pool, type PoolOptions } from '../pool.ts'

/** What was measured of an hour of arrival. */
export interface StoredLatenessHour {
  readonly hourMs: number
  readonly points: number
  readonly late: number
  readonly partlyLate: number
  readonly counts: readonly number[]
  readonly refused: Readonly<Record<string, number>>
  readonly measuredAtMs: number
}

/** Lateness by hour. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class LatenessHours {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Arrival of the newest record that any partition has heard of; null before the first. */
  async newestRecordMs(): Promise<number | null> {
    const [row] = await this.#pool.query<{ recordMs: number | null }>('select max(record_ms) as "recordMs" from km0.partition_mark')
    return row?.recordMs ?? null
  }

  /** Hours from `fromMs` on, in order. */
  read(fromMs: number): Promise<StoredLatenessHour[]> {
    return this.#pool.query<StoredLatenessHour & Record<string, unknown>>(
      `select hour_ms as "hourMs", points, late, partly_late as "partlyLate", counts, refused, measured_at_ms as "measuredAtMs"
       from km0.lateness_hour where hour_ms >= $1 order by hour_ms`,
      [fromMs],
    )
  }

  /** Stores hours, each in place of what was measured of it before, and forgets those before `keepFromMs`. */
  async write(hours: readonly Omit<StoredLatenessHour, 'measuredAtMs'>[], measuredAtMs: number, keepFromMs: number): Promise<void> {
    await this.#pool.transaction('begin', async (client) => {
      for (const { hourMs, points, late, partlyLate, counts, refused } of hours) {
        await client.query(
          `insert into km0.lateness_hour (hour_ms, points, late, partly_late, counts, refused, measured_at_ms) values ($1, $2, $3, $4, $5::bigint[], $6, $7)
           on conflict (hour_ms) do update set points = excluded.points, late = excluded.late, partly_late = excluded.partly_late,
             counts = excluded.counts, refused = excluded.refused, measured_at_ms = excluded.measured_at_ms`,
          [hourMs, points, late, partlyLate, counts, refused, measuredAtMs],
        )
      }
      await client.query('delete from km0.lateness_hour where hour_ms < $1', [keepFromMs])
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

export function openLatenessHours(options: PoolOptions): LatenessHours {
  return new LatenessHours(new Pool(options))
}
