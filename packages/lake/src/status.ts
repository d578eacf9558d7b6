import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { columnsOf } from './schema.ts'
import { LAKE_TABLES, type LakeTable } from './tables.ts'

export interface TableStatus {
  readonly table: string
  readonly topic: string
  readonly rows: number
  readonly files: number
  readonly bytes: number
  readonly days: number
  /** ISO dates; null for an empty table. */
  readonly firstDay: string | null
  readonly lastDay: string | null
}

/** How far the lake has come in one partition of a topic. */
export interface PartitionStatus {
  readonly table: string
  readonly topic: string
  readonly epoch: number
  readonly partition: number
  readonly nextOffset: number
  readonly rows: number
  readonly newestArrivalMs: number | null
  readonly newestEventMs: number | null
}

export interface HoleStatus {
  readonly table: string
  readonly epoch: number
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number
  readonly foundMs: number
}

export interface LakeStatus {
  readonly snapshot: number
  readonly tables: readonly TableStatus[]
  readonly partitions: readonly PartitionStatus[]
  /** Records that Kafka had deleted before the lake had them. */
  readonly holes: readonly HoleStatus[]
}

/** What the lake holds, as of one version. */
export async function lakeStatus(lake: Lake): Promise<LakeStatus> {
  return lake.use((connection) =>
    connection.transaction(async () => {
      const [current] = await connection.all<{ id: number }>(`SELECT id::INTEGER AS id FROM ${LAKE}.current_snapshot() AS s(id)`)
      const files = await connection.all<{ name: string; files: number; bytes: number }>(
        `SELECT table_name AS name, file_count::DOUBLE AS files, file_size_bytes::DOUBLE AS bytes FROM ducklake_table_info(${literal(LAKE)})`,
      )
      const filesOf = new Map(files.map((row) => [row.name, row]))
      const tables: TableStatus[] = []
      const partitions: PartitionStatus[] = []
      for (const table of LAKE_TABLES) {
        if (!filesOf.has(table.name)) continue
        const stored = filesOf.get(table.name)
        tables.push({ ...(await rowsOf(connection, table)), files: stored?.files ?? 0, bytes: stored?.bytes ?? 0 })
        const prefix = `offsets_${table.name}_`
        const names = [...filesOf.keys()].filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
        for (const name of names) partitions.push(...(await offsetsOf(connection, table, name, Number(name.slice(prefix.length)))))
      }
      partitions.sort((a, b) => (a.table === b.table ? a.partition - b.partition || a.epoch - b.epoch : 0))
      return { snapshot: current?.id ?? 0, tables, partitions, holes: await holesOf(connection) }
    }),
  )
}

/** Records that Kafka had deleted before the lake had them. */
export function lakeHoles(lake: Lake): Promise<HoleStatus[]> {
  return lake.use(holesOf)
}

async function rowsOf(connection: LakeConnection, table: LakeTable): Promise<Omit<TableStatus, 'files' | 'bytes'>> {
  const [row] = await connection.all<{ rows: number; days: number; first: string | null; last: string | null }>(
    `SELECT count(*)::DOUBLE AS rows, count(DISTINCT event_day)::INTEGER AS days, min(event_day)::VARCHAR AS first, max(event_day)::VARCHAR AS last
      FROM ${LAKE}.${identifier(table.name)}`,
  )
  return {
    table: table.name,
    topic: table.topic,
    rows: row?.rows ?? 0,
    days: row?.days ?? 0,
    firstDay: row?.first ?? null,
    lastDay: row?.last ?? null,
  }
}

async function offsetsOf(connection: LakeConnection, table: LakeTable, name: string, partition: number): Promise<PartitionStatus[]> {
  const rows = await connection.all<Pick<PartitionStatus, 'epoch' | 'nextOffset' | 'rows' | 'newestArrivalMs' | 'newestEventMs'>>(
    `SELECT epoch, next_offset::DOUBLE AS "nextOffset", row_count::DOUBLE AS rows, newest_arrival_ms::DOUBLE AS "newestArrivalMs",
      newest_event_ms::DOUBLE AS "newestEventMs" FROM ${LAKE}.${identifier(name)}`,
  )
  return rows.map((row) => ({ table: table.name, topic: table.topic, partition, ...row }))
}

async function holesOf(connection: LakeConnection): Promise<HoleStatus[]> {
  if ((await columnsOf(connection, 'holes')).size === 0) return []
  return connection.all<HoleStatus>(
    `SELECT table_name AS "table", epoch, kafka_partition AS partition, from_offset::DOUBLE AS "fromOffset", to_offset::DOUBLE AS "toOffset",
      found_ms::DOUBLE AS "foundMs" FROM ${LAKE}.holes ORDER BY ALL`,
  )
}

/** Where the log and the lake meet, for one partition. */
export interface Seam {
  readonly table: string
  readonly topic: string
  readonly partition: number
  /** First record that the log still has, and the offset after its last. */
  readonly logStart: number
  readonly logEnd: number
  readonly lakeNext: number
  /** `open`: records between lake and log are gone. `ahead`: the lake holds more than the log, so it is another log. */
  readonly state: 'closed' | 'open' | 'ahead'
}

/** Compares where the lake stands with what the log still has. */
export function seamOf(table: LakeTable, partition: number, lakeNext: number, logStart: number, logEnd: number): Seam {
  const state = lakeNext > logEnd ? 'ahead' : lakeNext < logStart ? 'open' : 'closed'
  return { table: table.name, topic: table.topic, partition, logStart, logEnd, lakeNext, state }
}
