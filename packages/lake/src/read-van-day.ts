import type { LakeLatePoint, LakeRefusedPoint } from '@km0/contracts/van-day-panel'
import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import { columnsOf } from './schema.ts'
import { DEAD_LETTERS, dayOf, LATE_POSITIONS, type LakeTable, onEventDays, POSITIONS } from './tables.ts'
import { interruptible, readNumbers } from './typed-columns.ts'

/** A van and a span, `[fromMs, toMs)`: of event time, of dead letters of arrival. */
export interface VanSpanQuery {
  readonly van: string
  readonly fromMs: number
  readonly toMs: number
}

/** Points of a van in event order, each event time once (the first in the log). `delayMs` is arrival − event time. */
export interface VanTrack {
  readonly rowCount: number
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
  readonly delayMs: Float64Array
}

/** The track of a van as typed arrays. Rejects with LakeInterruptedError when `signal` is aborted. */
export function readVanTrack(lake: Lake, { van, fromMs, toMs }: VanSpanQuery, signal?: AbortSignal): Promise<VanTrack> {
  return lake.use(async (connection) => {
    const { rowCount, columns } = await readNumbers(
      connection,
      `SELECT event_ms::DOUBLE, lat, lon, (arrival_ms - event_ms)::DOUBLE FROM ${nameOf(POSITIONS)}
        WHERE kind = '${ROW_KINDS.position}' AND ${days(fromMs, toMs)} AND event_ms >= ${whole(fromMs)} AND event_ms < ${whole(toMs)} AND van = ${literal(van)}
        QUALIFY row_number() OVER (PARTITION BY event_ms ORDER BY epoch, kafka_partition, kafka_offset) = 1 ORDER BY event_ms`,
      4,
      signal,
    )
    const [eventMs, lat, lon, delayMs] = columns as [Float64Array, Float64Array, Float64Array, Float64Array]
    return { rowCount, eventMs, lat, lon, delayMs }
  })
}

/** Late points of a van in event order, with the place of the position that they tell of; at most `limit`. */
export function readVanLate(lake: Lake, query: VanSpanQuery, limit: number, signal?: AbortSignal): Promise<LakeLatePoint[]> {
  const { van, fromMs, toMs } = query
  return lake.use((connection) =>
    whereThere(connection, LATE_POSITIONS, signal, () =>
      connection.all<LakeLatePoint>(
        `SELECT l.event_ms::DOUBLE AS "eventMs", l.reason, l.source_partition AS partition, l.source_offset::DOUBLE AS "offset",
            any_value(TRY_CAST(l.value ->> '$.finestres_tancades' AS INTEGER)) AS "windowsClosed",
            min(p.arrival_ms)::DOUBLE AS "arrivalMs", first(p.lat) AS lat, first(p.lon) AS lon
          FROM ${nameOf(LATE_POSITIONS)} l
          LEFT JOIN (SELECT * FROM ${nameOf(POSITIONS)} WHERE ${days(fromMs, toMs)} AND van = ${literal(van)}) p
            ON p.kafka_partition = l.source_partition AND p.kafka_offset = l.source_offset AND p.event_ms = l.event_ms
          WHERE ${days(fromMs, toMs, 'l.')} AND l.event_ms >= ${whole(fromMs)} AND l.event_ms < ${whole(toMs)} AND l.key = ${literal(van)}
            AND l.reason IN ('tard', 'parcial')
          GROUP BY ALL ORDER BY "eventMs", "offset" LIMIT ${whole(limit)}`,
      ),
    ),
  )
}

interface DeadLetterRow {
  readonly arrivalMs: number
  readonly eventMs: number | null
  readonly reason: string | null
  readonly detail: string | null
  readonly body: string | null
}

/**
 * Refused messages that arrived in the span and name the van: by key, or by the level of an MQTT topic that the bridge has kept. Where the bridge
 * has kept the message too and it tells a place, that is given. At most `limit`, in order of arrival.
 */
export async function readVanRefused(lake: Lake, query: VanSpanQuery, limit: number, signal?: AbortSignal): Promise<LakeRefusedPoint[]> {
  const { van, fromMs, toMs } = query
  const levels = `string_split(coalesce(value ->> '$.tema', ''), '/')`
  const rows = await lake.use((connection) =>
    whereThere(connection, DEAD_LETTERS, signal, () =>
      connection.all<DeadLetterRow>(
        `SELECT arrival_ms::DOUBLE AS "arrivalMs", event_ms::DOUBLE AS "eventMs", reason, value ->> '$.detall' AS detail, value ->> '$.cos' AS body
          FROM ${nameOf(DEAD_LETTERS)}
          WHERE ${days(fromMs, toMs)} AND arrival_ms >= ${whole(fromMs)} AND arrival_ms < ${whole(toMs)}
            AND (key = ${literal(van)} OR (key IS NULL AND (list_contains(${levels}, ${literal(van)}) OR list_contains(${levels}, ${literal(encodeURIComponent(van))}))))
          ORDER BY arrival_ms, kafka_offset LIMIT ${whole(limit)}`,
      ),
    ),
  )
  return rows.map(({ body, reason, eventMs, ...row }) => {
    const said = bodyOf(body)
    return { ...row, reason: reason ?? 'invalid', eventMs: eventMs ?? said.eventMs, lat: said.lat, lon: said.lon }
  })
}

const NOTHING = { eventMs: null, lat: null, lon: null } as const

/** Place and time in a message that was kept, as far as they are numbers that can be. */
function bodyOf(base64: string | null): { readonly eventMs: number | null; readonly lat: number | null; readonly lon: number | null } {
  if (base64 === null) return NOTHING
  try {
    const value: unknown = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'))
    if (typeof value !== 'object' || value === null) return NOTHING
    const { lat, lon, data_ms } = value as Record<string, unknown>
    const isPlace = typeof lat === 'number' && typeof lon === 'number' && Math.abs(lat) <= 90 && Math.abs(lon) <= 180
    const eventMs = Number.isSafeInteger(data_ms) ? (data_ms as number) : null
    return { eventMs, lat: isPlace ? lat : null, lon: isPlace ? lon : null }
  } catch {
    return NOTHING
  }
}

/** Nothing while the lake has no such table yet. */
async function whereThere<Row>(
  connection: LakeConnection,
  table: LakeTable,
  signal: AbortSignal | undefined,
  read: () => Promise<Row[]>,
): Promise<Row[]> {
  return interruptible(connection, signal, async () => ((await columnsOf(connection, table.name)).size === 0 ? [] : read()))
}

const nameOf = (table: LakeTable) => `${LAKE}.${identifier(table.name)}`
const whole = Math.trunc
const days = (fromMs: number, toMs: number, of?: string) => onEventDays(dayOf(fromMs), dayOf(toMs - 1), of)
