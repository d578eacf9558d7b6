import { encodePosition } from '@km0/contracts'
import { identifier, LAKE, type Lake } from './lake.ts'
import { type LakeTable, POSITIONS } from './tables.ts'

/** A record as it stood in the log. */
export interface StoredRecord {
  readonly epoch: number
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly key: string | null
  /** The value as it came, byte for byte. */
  readonly text: string | null
  readonly headers: Readonly<Record<string, string>>
}

export interface LogQuery {
  readonly table: LakeTable
  readonly epoch: number
  readonly partition: number
  /** Offsets, `[fromOffset, untilOffset)`. */
  readonly fromOffset?: number
  readonly untilOffset?: number
  readonly snapshot?: number
  /** Offsets that are read and sorted at a time. Default 200,000. */
  readonly stepOffsets?: number
}

interface Row {
  readonly kafka_offset: number
  readonly arrival_ms: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: string | null
  readonly van: string | null
  readonly event_ms: number | null
  readonly lat: number | null
  readonly lon: number | null
}

/** Epochs and partitions that a table holds, in order: what a replay goes through. */
export async function storedPartitions(lake: Lake, table: LakeTable): Promise<{ epoch: number; partition: number }[]> {
  return lake.use((connection) =>
    connection.all<{ epoch: number; partition: number }>(
      `SELECT epoch, kafka_partition AS partition FROM ${LAKE}.${identifier(table.name)} GROUP BY ALL ORDER BY ALL`,
    ),
  )
}

/** Records of one partition in offset order, a stretch at a time, so that memory does not grow with the lake. */
export async function* readLog(lake: Lake, query: LogQuery): AsyncGenerator<readonly StoredRecord[]> {
  const { table, epoch, partition } = query
  const connection = await lake.connect()
  try {
    const source = `${LAKE}.${identifier(table.name)}${query.snapshot === undefined ? '' : ` AT (VERSION => ${Math.trunc(query.snapshot)})`}`
    const [bounds] = await connection.all<{ low: number | null; high: number | null }>(
      `SELECT min(kafka_offset)::DOUBLE AS low, max(kafka_offset)::DOUBLE AS high FROM ${source}
        WHERE epoch = ${Math.trunc(epoch)} AND kafka_partition = ${Math.trunc(partition)}`,
    )
    if (bounds === undefined || bounds.low === null || bounds.high === null) return
    const until = Math.min(query.untilOffset ?? Number.POSITIVE_INFINITY, bounds.high + 1)
    const step = query.stepOffsets ?? 200_000
    const columns =
      table === POSITIONS ? 'van, event_ms::DOUBLE AS event_ms, lat, lon' : 'NULL AS van, NULL AS event_ms, NULL AS lat, NULL AS lon'
    for (let from = Math.max(query.fromOffset ?? 0, bounds.low); from < until; from += step) {
      const rows = await connection.all<Row>(
        `SELECT kafka_offset::DOUBLE AS kafka_offset, arrival_ms::DOUBLE AS arrival_ms, key, value, headers, ${columns} FROM ${source}
          WHERE epoch = ${Math.trunc(epoch)} AND kafka_partition = ${Math.trunc(partition)}
          AND kafka_offset >= ${from} AND kafka_offset < ${Math.min(from + step, until)} ORDER BY kafka_offset`,
      )
      if (rows.length > 0) yield rows.map((row) => toRecord(row, epoch, partition))
    }
  } finally {
    connection.close()
  }
}

function toRecord(row: Row, epoch: number, partition: number): StoredRecord {
  const { kafka_offset: offset, arrival_ms: timestampMs, key, headers } = row
  return { epoch, partition, offset, timestampMs, key, text: textOfRow(row), headers: headers === null ? {} : JSON.parse(headers) }
}

/** A position in its usual form is not stored twice: it is put together again from its columns. */
function textOfRow({ value, van, event_ms: eventMs, lat, lon }: Row): string | null {
  if (value !== null || van === null || eventMs === null || lat === null || lon === null) return value
  return encodePosition({ van, lat, lon, eventMs })
}
