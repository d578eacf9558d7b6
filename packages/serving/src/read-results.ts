import type { Scope, SourcePosition } from '@km0/contracts'
import type { Pool } from './pool.ts'
import { queryScoped, vanScope } from './scope.ts'

/** A result row as it is stored, with the key that it has in the log. Members in the order of the wire. */
export interface StoredResult {
  readonly key: string
  readonly value: Readonly<Record<string, string | number>>
  readonly source: SourcePosition
}

const PAGE_ROWS = 20_000

const DISTANCES = `select r.van, r.window_end_ms as at_ms, r.epoch, r.source_partition, r.source_offset,
  json_build_object('tipus', 'distancia', 'repartidor', r.van, 'inici_ms', r.window_start_ms, 'fi_ms', r.window_end_ms,
    'distancia_mm', r.distance_mm, 'posicions', r.positions, 'salts', r.jumps, 'desplacament_mm', r.displacement_mm, 'revisio', r.revision) as value
  from km0.distance_row r`
const SESSIONS = `select r.van, r.start_ms as at_ms, r.epoch, r.source_partition, r.source_offset,
  json_build_object('tipus', 'sessio', 'repartidor', r.van, 'inici_ms', r.start_ms, 'fi_ms', r.end_ms, 'posicions', r.positions) as value
  from km0.session_row r`
const SIGNALS = `select r.van, r.since_ms as at_ms, r.epoch, r.source_partition, r.source_offset,
  json_build_object('tipus', 'senyal', 'repartidor', r.van,
    'estat', case r.state when 'signal' then 'amb-senyal' else 'sense-senyal' end, 'des_de_ms', r.since_ms) as value
  from km0.signal_state r`

interface Row {
  van: string
  at_ms: number
  epoch: number
  source_partition: number
  source_offset: number
  value: Record<string, string | number>
}

/** All stored results of a scope as wire values: distances, sessions, signal states. Read in pages, so memory stays bounded. */
export async function* readAllResults(pool: Pool, scope: Scope): AsyncGenerator<StoredResult> {
  yield* pages(pool, scope, DISTANCES, 'window_end_ms', (row) => `distancia|${row.van}|${row.at_ms}`)
  yield* pages(pool, scope, SESSIONS, 'start_ms', (row) => `sessio|${row.van}|${row.at_ms}`)
  yield* pages(pool, scope, SIGNALS, 'since_ms', (row) => `senyal|${row.van}`)
}

async function* pages(pool: Pool, scope: Scope, select: string, time: string, keyOf: (row: Row) => string): AsyncGenerator<StoredResult> {
  const clause = vanScope(scope, 4)
  let last: { van: string; at_ms: number } = { van: '', at_ms: Number.MIN_SAFE_INTEGER }
  for (;;) {
    const rows = await queryScoped<Row>(
      pool,
      scope,
      `${select} left join km0.van v on v.van = r.van
       where (r.van, r.${time}) > ($1, $2) and ${clause.sql} order by r.van, r.${time} limit $3`,
      [last.van, last.at_ms, PAGE_ROWS, ...clause.values],
    )
    for (const row of rows) {
      const { revisio, ...value } = row.value
      yield {
        key: keyOf(row),
        // On the wire a row that was never revised does not say so.
        value: revisio === undefined || revisio === 0 ? value : { ...value, revisio },
        source: { epoch: row.epoch, partition: row.source_partition, offset: row.source_offset },
      }
    }
    const end = rows.at(-1)
    if (end === undefined || rows.length < PAGE_ROWS) return
    last = end
  }
}
