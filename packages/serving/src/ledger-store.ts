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
    const places = [
      span.partitions.map(({ partition }) => partition),
      span.partitions.map(({ from }) => from),
      span.partitions.map(({ until }) => until),
    ]
    const source = 'unnest($2::int[], $3::bigint[], $4::bigint[]) as s (partition, first, last) on s.partition = r.source_partition'
    const inside = `join ${source} and r.source_offset >= s.first and r.source_offset < s.last and r.epoch = $1`
    return this.#pool.transaction('begin isolation level repeatable read read only', async (client) => {
      const count = async (sql: string, more: readonly unknown[] = []) =>
        (await client.query<{ rows: number }>(`select count(*) as rows ${sql}`, [span.epoch, ...places, ...more])).rows[0]?.rows ?? 0
      const oldest = await client.query<{ name: string | null }>(
        `select min(c.relname) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'km0.distance_row'::regclass`,
      )
      return {
        distancia: await count(`from km0.distance_row r ${inside} where r.window_end_ms >= $5`, [span.windowsFromMs]),
        sessio: await count(`from km0.session_row r ${inside}`),
        senyal: await count(`from km0.signal_state r ${inside}`),
        newerSignals: await count(
          `from km0.signal_state r join ${source} and (r.epoch > $1 or r.epoch = $1 and r.source_offset >= s.last)`,
        ),
        oldestDayMs: dayOf(oldest.rows[0]?.name ?? null),
      }
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

function dayOf(partition: string | null): number | null {
  const match = /_(\d{4})(\d{2})(\d{2})$/.exec(partition ?? '')
  return match === null ? null : Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
}

/** Opens what the ledger reads. Connects at the first use. */
export function openLedgerStore(options: PoolOptions): LedgerStore {
  return new LedgerStore(new Pool(options))
}
