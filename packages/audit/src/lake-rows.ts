import { type Lake, lakeStatus, POSITIONS } from '@km0/lake'
import { LAKE } from '@km0/lake/lake'
import type { LakeCounts, OffsetRange } from '@km0/ledger'

export interface LakeProgress {
  readonly epoch: number
  /** Next offset of each partition of the positions. */
  readonly next: ReadonlyMap<number, number>
}

/** How far the lake is in the positions, in its newest epoch; null when it holds none yet. */
export async function lakeProgress(lake: Lake): Promise<LakeProgress | null> {
  const { partitions } = await lakeStatus(lake)
  const own = partitions.filter(({ table }) => table === POSITIONS.name)
  if (own.length === 0) return null
  const epoch = Math.max(...own.map((row) => row.epoch))
  return { epoch, next: new Map(own.filter((row) => row.epoch === epoch).map((row) => [row.partition, row.nextOffset])) }
}

/** Counts rows of what the lake had come to, and what Kafka had deleted before it could. */
export async function lakeRows(
  lake: Lake,
  { epoch, next }: LakeProgress,
  span: ReadonlyMap<number, OffsetRange>,
  fromMs: number,
): Promise<LakeCounts> {
  const { holes, tables } = await lakeStatus(lake)
  const firstDay = tables.find(({ table }) => table === POSITIONS.name)?.firstDay ?? null
  let [rows, missing] = [0, 0]
  await lake.use(async (connection) => {
    for (const [partition, { from, until }] of span) {
      const end = Math.min(until, next.get(partition) ?? 0)
      const [row] = await connection.all<{ rows: number }>(
        `SELECT count(*)::DOUBLE AS rows FROM ${LAKE}.${POSITIONS.name} WHERE epoch = ${Math.trunc(epoch)}
          AND kafka_partition = ${Math.trunc(partition)} AND kafka_offset >= ${Math.trunc(from)} AND kafka_offset < ${Math.trunc(end)}`,
      )
      rows += row?.rows ?? 0
      for (const hole of holes) {
        if (hole.table !== POSITIONS.name || hole.epoch !== epoch || hole.partition !== partition) continue
        missing += Math.max(0, Math.min(end, hole.toOffset) - Math.max(from, hole.fromOffset))
      }
    }
  })
  return { rows, holes: missing, isCut: firstDay !== null && Date.parse(firstDay) > fromMs }
}
