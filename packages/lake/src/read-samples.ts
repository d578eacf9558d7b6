import { identifier, LAKE, type Lake, literal } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, onEventDays, POSITIONS } from './tables.ts'
import { interruptible, readNumbers } from './typed-columns.ts'

export interface SamplesQuery {
  /** Event time, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  /** One point of a van in so long: the last one. */
  readonly sampleMs: number
  /** The last point before `fromMs` is looked for so far back. */
  readonly lookBackMs: number
  /** null: all. */
  readonly vans: readonly string[] | null
}

/** Rows van by van, in event order; the last point before the span is the first row of a van that has one. */
export interface Samples {
  readonly vans: readonly { readonly van: string; readonly rows: number }[]
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
}

/** Where everybody was in a span, thinned. Rejects with LakeInterruptedError when `signal` is aborted. */
export async function readSamples(lake: Lake, query: SamplesQuery, signal?: AbortSignal): Promise<Samples> {
  const { fromMs, toMs, sampleMs, lookBackMs, vans } = query
  const some = vans === null ? 'true' : vans.length === 0 ? 'false' : `van IN (${vans.map(literal).join(', ')})`
  const firstMs = fromMs - lookBackMs
  return lake.use((connection) =>
    interruptible(connection, signal, async () => {
      await connection.run(
        `CREATE OR REPLACE TEMP TABLE sample AS
          SELECT van, CASE WHEN event_ms < ${Math.trunc(fromMs)} THEN -1 ELSE (event_ms - ${Math.trunc(fromMs)}) // ${Math.trunc(sampleMs)} END AS slot,
            max(event_ms) AS event_ms, arg_max(lat, event_ms) AS lat, arg_max(lon, event_ms) AS lon
          FROM ${LAKE}.${identifier(POSITIONS.name)}
          WHERE kind = '${ROW_KINDS.position}' AND ${onEventDays(dayOf(firstMs), dayOf(toMs - 1))}
            AND event_ms >= ${Math.trunc(firstMs)} AND event_ms < ${Math.trunc(toMs)} AND ${some}
          GROUP BY ALL`,
      )
      const found = await connection.all<{ van: string; rows: number }>(
        'SELECT van, count(*)::INTEGER AS rows FROM sample GROUP BY van ORDER BY van',
      )
      const { columns } = await readNumbers(connection, 'SELECT event_ms::DOUBLE, lat, lon FROM sample ORDER BY van, slot', 3, signal)
      await connection.run('DROP TABLE sample')
      const [eventMs, lat, lon] = columns as [Float64Array, Float64Array, Float64Array]
      return { vans: found, eventMs, lat, lon }
    }),
  )
}
