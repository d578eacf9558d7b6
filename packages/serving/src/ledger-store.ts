import { Pool, type PoolOptions } from './pool.ts'

/** Rows whose source lies in these stretches of the log's partitions, `[from, until)` in offsets, written in this epoch. */
export interface SourceSpan {
  readonly epoch: number
  readonly partitions: readonly { readonly partition: number; readonly from: number; readonly until: number }[]
  /** Rows of windows that end before it are of no source in the span: their days need not be read. */
  readonly windowsFromMs: number
}

/** Rows by the kind of the wire. */
export interface StoredRows {
  readonly distancia: number
  readonly sessio: number
  readonly senyal: number
  /** Signal states whose source lies behind the span. */
  readonly newerSignals: number
  /** UTC start of the oldest day that is kept; null when there is none. */
  readonly oldestDayMs: number | null
}

/** What the ledger asks of the store. It counts over all vans, so it takes no scope. */
export class LedgerStore {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Counts result rows by where they come from, all as of one moment. */
  async countRows(span: SourceSpan): Promise<StoredRows> {
    const within = `${INSIDE} and r.epoch = $1`
    return this.#pool.transaction('begin isolation level repeatable read read only', async (client) => {
      const count = async (sql: string, values: readonly unknown[]) =>
        (await client.query<{ rows: number }>(`select count(*) as rows ${sql}`, [...values])).rows[0]?.rows ?? 0
      const oldest = await client.query<{ name: string | null }>(
        `select min(c.relname) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'km0.distance_row'::regclass`,
      )
      const values = valuesOf(span)
      const signals = values.slice(0, 4)
      return {
        distancia: await count(`from km0.distance_row r ${within} where r.window_end_ms >= $5`, values),
        sessio: await count(`from km0.session_row r ${within} where r.end_ms >= $5`, values),
        senyal: await count(`from km0.signal_state r ${within}`, signals),
        newerSignals: await count(`from km0.signal_state r join ${SOURCES} where r.source_offset >= s.last or r.epoch > $1`, signals),
        oldestDayMs: dayOf(oldest.rows[0]?.name ?? null),
      }
    })
  }

  /** Keys, as in the log, of rows of the same stretches that an older epoch has written and no newer one has replaced. */
  async olderKeys(span: SourceSpan): Promise<string[]> {
    const within = `${INSIDE} and r.epoch < $1`
    const rows = await this.#pool.query<{ key: string }>(
      `select 'distancia|' || r.van || '|' || r.window_end_ms as key from km0.distance_row r ${within} where r.window_end_ms >= $5
       union all select 'sessio|' || r.van || '|' || r.start_ms from km0.session_row r ${within} where r.end_ms >= $5
       union all select 'senyal|' || r.van from km0.signal_state r ${within} where r.since_ms >= $5`,
      valuesOf(span),
    )
    return rows.map(({ key }) => key)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** $2, $3, $4: the stretches. */
const SOURCES = 'unnest($2::int[], $3::bigint[], $4::bigint[]) as s (partition, first, last) on s.partition = r.source_partition'
const INSIDE = `join ${SOURCES} and r.source_offset >= s.first and r.source_offset < s.last`

function valuesOf({ epoch, partitions, windowsFromMs }: SourceSpan): unknown[] {
  const columns = [partitions.map(({ partition }) => partition), partitions.map(({ from }) => from), partitions.map(({ until }) => until)]
  return [epoch, ...columns, windowsFromMs]
}

function dayOf(partition: string | null): number | null {
  const match = /_(\d{4})(\d{2})(\d{2})$/.exec(partition ?? '')
  return match === null ? null : Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
}

/** Opens what the ledger reads. Connects at the first use. */
export function openLedgerStore(options: PoolOptions): LedgerStore {
  return new LedgerStore(new Pool(options))
}
