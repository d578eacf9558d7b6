import { LATENESS_STEPS_MS, latenessStep } from '@km0/contracts'
import { identifier, LAKE, type Lake } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import { columnsOf } from './schema.ts'
import { DEAD_LETTERS, dayOf, LATE_POSITIONS, type LakeTable, onEventDays, POSITIONS } from './tables.ts'

/** How late the positions of an hour of arrival were, and what became of them. */
export interface LatenessHour {
  readonly hourMs: number
  readonly points: number
  readonly late: number
  readonly partlyLate: number
  /** Points by step of lateness, as `LATENESS_STEPS_MS` has them, and one count for what is later. */
  readonly counts: readonly number[]
  /** Refused messages by reason. */
  readonly refused: Readonly<Record<string, number>>
}

const HOUR_MS = 3_600_000
/** Older points are refused, so a row of an hour of arrival has its event time within so many days. */
const EVENT_DAYS = 8
/** Fine enough for every step. */
const GRAIN_MS = 100

interface Row {
  readonly hourMs: number
  readonly what: string
  readonly count: number
}

/** Measures whole hours of arrival, `[fromMs, toMs)`. An hour without rows is there, with zeros. A record that was written twice counts once. */
export async function measureLateness(lake: Lake, span: { readonly fromMs: number; readonly toMs: number }): Promise<LatenessHour[]> {
  const hours = new Map<number, { points: number; late: number; partlyLate: number; counts: number[]; refused: Record<string, number> }>()
  for (let hourMs = span.fromMs; hourMs < span.toMs; hourMs += HOUR_MS) {
    hours.set(hourMs, { points: 0, late: 0, partlyLate: 0, counts: new Array(LATENESS_STEPS_MS.length + 1).fill(0), refused: {} })
  }
  await lake.use(async (connection) => {
    const count = async (table: LakeTable, what: string, rows: string, where = 'true') => {
      if ((await columnsOf(connection, table.name)).size === 0) return []
      return connection.all<Row>(
        `SELECT (arrival_ms // ${HOUR_MS} * ${HOUR_MS})::DOUBLE AS "hourMs", ${what} AS what, ${rows}::DOUBLE AS count
         FROM ${LAKE}.${identifier(table.name)}
         WHERE ${onEventDays(dayOf(span.fromMs) - EVENT_DAYS, dayOf(span.toMs) + 1)}
           AND arrival_ms >= ${Math.trunc(span.fromMs)} AND arrival_ms < ${Math.trunc(span.toMs)} AND ${where} GROUP BY ALL`,
      )
    }
    const grain = `((arrival_ms - event_ms + ${GRAIN_MS - 1}) // ${GRAIN_MS} * ${GRAIN_MS})::VARCHAR`
    for (const { hourMs, what, count: n } of await count(POSITIONS, grain, 'count(*)', `kind = '${ROW_KINDS.position}'`)) {
      const hour = hours.get(hourMs)
      if (hour === undefined) continue
      hour.points += n
      hour.counts[latenessStep(Number(what))]! += n
    }
    for (const { hourMs, what, count: n } of await count(LATE_POSITIONS, 'reason', 'count(DISTINCT (key, event_ms, arrival_ms))')) {
      const hour = hours.get(hourMs)
      if (hour !== undefined && what === 'tard') hour.late += n
      if (hour !== undefined && what === 'parcial') hour.partlyLate += n
    }
    for (const { hourMs, what, count: n } of await count(DEAD_LETTERS, `coalesce(reason, '')`, 'count(*)')) {
      const hour = hours.get(hourMs)
      if (hour !== undefined) hour.refused[what] = (hour.refused[what] ?? 0) + n
    }
  })
  return [...hours].map(([hourMs, hour]) => ({ hourMs, ...hour }))
}
