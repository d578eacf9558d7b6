import { HOUR_MS } from './dirty-hours.ts'
import type { Pool } from './pool.ts'

/** A row as it is served, under the key that it has in the log. Members in the order of the wire; how often it was revised is left out. */
export interface ServedRow {
  readonly key: string
  readonly van: string
  /** JSON text. */
  readonly value: string
  /** Version that it is of; null for a live row. */
  readonly version: number | null
}

const DISTANCES = `select 'distancia|' || van || '|' || window_end_ms as key, van,
  json_build_object('tipus', 'distancia', 'repartidor', van, 'inici_ms', window_start_ms, 'fi_ms', window_end_ms,
    'distancia_mm', distance_mm, 'posicions', positions, 'salts', jumps, 'desplacament_mm', displacement_mm)::text as value, version
  from km0.served_distance where window_end_ms > $1 and window_end_ms <= $2 and hour_ms = $1`
const SESSIONS = `select 'sessio|' || van || '|' || start_ms as key, van,
  json_build_object('tipus', 'sessio', 'repartidor', van, 'inici_ms', start_ms, 'fi_ms', end_ms, 'posicions', positions)::text as value, version
  from km0.served_session where start_ms >= $1 and start_ms < $2 and hour_ms = $1`

/** Windows that end in an hour and sessions that begin in it, of all vans, by key. */
export async function readHour(pool: Pool, hourMs: number): Promise<ServedRow[]> {
  const rows = await pool.query<ServedRow>(`${DISTANCES} union all ${SESSIONS}`, [hourMs, hourMs + HOUR_MS])
  return rows
    .map((row) => ({ ...row, value: JSON.stringify(JSON.parse(row.value)) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}
