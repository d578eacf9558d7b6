import { decodeSettings, parseJsonObject } from '@km0/contracts'
import { identifier, LAKE, type Lake } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import type { LakeTable } from './tables.ts'

/** How far one partition of a version of the lake is final. */
export interface FinalMark {
  readonly epoch: number
  readonly partition: number
  /** Largest min(event time, arrival) of what the lake holds of it. */
  readonly progressMs: number
  /** A window that ends at or before it is final for live (F of section 2), as far as the lake's records tell; never more. */
  readonly finalMs: number
  /** Offset after its newest row. */
  readonly nextOffset: number
}

export interface FinalMarksQuery {
  readonly table: LakeTable
  /** In force before the first settings record of a partition. */
  readonly delayMs: number
  readonly allowedLatenessMs: number
  /** Version of the lake; absent: the newest. */
  readonly snapshot?: number
}

/** The bridge writes heartbeats to every partition: the newest record of each is among these days. */
const RECENT_DAYS = 8

interface Row {
  readonly epoch: number
  readonly partition: number
  readonly progress: number
  readonly next: number
  readonly settings: readonly string[] | null
}

/**
 * The final mark of each partition of the newest epoch. Where delay or allowed lateness have changed, the largest that were in force count:
 * the mark is never ahead of the live job's.
 */
export async function finalMarks(lake: Lake, query: FinalMarksQuery): Promise<FinalMark[]> {
  const source = `${LAKE}.${identifier(query.table.name)}${query.snapshot === undefined ? '' : ` AT (VERSION => ${Math.trunc(query.snapshot)})`}`
  const epoch = `(SELECT max(epoch) FROM ${source})`
  const rows = await lake.use((connection) =>
    connection.all<Row>(
      `WITH newest AS (
         SELECT kafka_partition, max(kafka_offset)::DOUBLE + 1 AS next, max(least(event_ms, arrival_ms))::DOUBLE AS progress
         FROM ${source} WHERE kind <> '${ROW_KINDS.settings}' AND epoch = ${epoch}
           AND event_day >= (SELECT max(event_day) FROM ${source}) - ${RECENT_DAYS} GROUP BY 1),
       told AS (SELECT kafka_partition, list(value) AS settings FROM ${source}
         WHERE kind = '${ROW_KINDS.settings}' AND epoch = ${epoch} GROUP BY 1)
       SELECT ${epoch} AS epoch, kafka_partition AS partition, next, progress, settings
       FROM newest LEFT JOIN told USING (kafka_partition) ORDER BY partition`,
    ),
  )
  return rows.map(({ epoch, partition, progress, next, settings }) => {
    const progressMs = progress ?? Number.NEGATIVE_INFINITY
    return { epoch, partition, progressMs, finalMs: progressMs - longestWait(query, settings), nextOffset: next }
  })
}

function longestWait({ delayMs, allowedLatenessMs }: FinalMarksQuery, values: unknown): number {
  const texts = listOf(values)
  const waits = texts.flatMap((text) => {
    const json = parseJsonObject(text, Buffer.byteLength(text), true)
    const settings = json === null ? null : decodeSettings(json)
    return settings === null ? [] : [settings.delayMs + settings.allowedLatenessMs]
  })
  return waits.length === 0 ? delayMs + allowedLatenessMs : Math.max(...waits)
}

/** DuckDB gives a list as an array, or as an object that has one. */
function listOf(value: unknown): string[] {
  const items = Array.isArray(value) ? value : (value as { items?: unknown } | null)?.items
  return Array.isArray(items) ? items.filter((item) => typeof item === 'string') : []
}
