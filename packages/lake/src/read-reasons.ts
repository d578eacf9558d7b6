import { identifier, LAKE, type Lake, literal } from './lake.ts'
import { columnsOf } from './schema.ts'
import { dayOf, type LakeTable, onEventDays } from './tables.ts'

/** Rows of the late side output, or dead letters, of one owner and reason. */
export interface ReasonCount {
  /** Key of the record that caused them: a van, or `producte|mercat`; null where it has none. */
  readonly owner: string | null
  readonly reason: string | null
  readonly count: number
  /** Median of event time − arrival; null where no event time was told. */
  readonly aheadMs: number | null
}

export interface ReasonsQuery {
  readonly table: LakeTable
  /** `[fromMs, toMs)`, of event time for late rows, of arrival for dead letters. */
  readonly fromMs: number
  readonly toMs: number
  readonly by: 'event' | 'arrival'
  readonly snapshot: number
  readonly owners: readonly string[] | null
}

/** Counts what was late or refused in a range, by owner and reason, most first. */
export async function countReasons(lake: Lake, query: ReasonsQuery): Promise<ReasonCount[]> {
  const { table, fromMs, toMs, by, owners } = query
  const time = by === 'event' ? 'event_ms' : 'arrival_ms'
  const some = owners === null ? 'true' : owners.length === 0 ? 'false' : `key IN (${owners.map(literal).join(', ')})`
  return lake.use(async (connection) => {
    if ((await columnsOf(connection, table.name)).size === 0) return []
    return connection.all<ReasonCount>(
      `SELECT key AS owner, reason, count(*)::DOUBLE AS count, median(event_ms - arrival_ms)::DOUBLE AS "aheadMs"
        FROM ${LAKE}.${identifier(table.name)} AT (VERSION => ${Math.trunc(query.snapshot)})
        WHERE ${onEventDays(dayOf(fromMs), dayOf(toMs - 1))}
          AND ${time} >= ${Math.trunc(fromMs)} AND ${time} < ${Math.trunc(toMs)} AND ${some}
        GROUP BY ALL ORDER BY count DESC, owner`,
    )
  })
}
