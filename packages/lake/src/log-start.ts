import { identifier, LAKE, type Lake } from './lake.ts'
import { readLog, type StoredRecord } from './read-log.ts'
import { ROW_KINDS } from './rows.ts'
import type { LakeTable } from './tables.ts'

export interface LogStart {
  /** First record that arrived at or after the time; null when the lake has none. */
  readonly offset: number | null
  /** Settings record in force there; null when none came before. */
  readonly settings: StoredRecord | null
}

export interface LogStartQuery {
  readonly table: LakeTable
  readonly epoch: number
  readonly partition: number
  readonly arrivalMs: number
}

/** Where to begin to read a partition's log so as to know all that arrived since a time. */
export async function logStart(lake: Lake, { table, epoch, partition, arrivalMs }: LogStartQuery): Promise<LogStart> {
  const source = `${LAKE}.${identifier(table.name)}`
  const of = `epoch = ${Math.trunc(epoch)} AND kafka_partition = ${Math.trunc(partition)}`
  const { offset, told } = await lake.use(async (connection) => {
    const [first] = await connection.all<{ offset: number | null }>(
      `SELECT min(kafka_offset)::DOUBLE AS "offset" FROM ${source} WHERE ${of} AND arrival_ms >= ${Math.ceil(arrivalMs)}`,
    )
    const before = first?.offset == null ? '' : `AND kafka_offset < ${first.offset}`
    const [settings] = await connection.all<{ offset: number | null }>(
      `SELECT max(kafka_offset)::DOUBLE AS "offset" FROM ${source} WHERE ${of} AND kind = '${ROW_KINDS.settings}' ${before}`,
    )
    return { offset: first?.offset ?? null, told: settings?.offset ?? null }
  })
  if (told === null) return { offset, settings: null }
  for await (const records of readLog(lake, { table, epoch, partition, fromOffset: told, untilOffset: told + 1 }))
    return { offset, settings: records[0] ?? null }
  return { offset, settings: null }
}

/** Event time of the oldest position of an epoch, in ms; null without any. */
export async function oldestEventMs(lake: Lake, table: LakeTable, epoch: number): Promise<number | null> {
  const [row] = await lake.use((connection) =>
    connection.all<{ oldest: number | null }>(
      `SELECT min(event_ms)::DOUBLE AS oldest FROM ${LAKE}.${identifier(table.name)}
        WHERE epoch = ${Math.trunc(epoch)} AND kind NOT IN ('${ROW_KINDS.settings}', '${ROW_KINDS.heartbeat}')`,
    ),
  )
  return row?.oldest ?? null
}
