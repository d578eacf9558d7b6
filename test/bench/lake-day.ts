import { join } from 'node:path'
import { DEFAULT_LAKE_SETTINGS, type Lake, type LakeSettings, LakeWriter, literal, openLake, ROW_KINDS } from '@km0/lake'
import { cacheRoot } from '../../infra/embedded/cache.mjs'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Every position of a lake. */
export const EVERYTHING = { fromMs: 0, toMs: Date.UTC(2100, 0) }

/** Schema of the catalog of a bench. */
export const CATALOG_SCHEMA = 'lake_bench'

/** A lake in a folder of a bench's own. */
export function benchLake(postgresUrl: string, dataDir: string): LakeSettings {
  return {
    ...DEFAULT_LAKE_SETTINGS,
    catalogUrl: postgresUrl,
    catalogSchema: CATALOG_SCHEMA,
    dataPath: join(dataDir, 'lake'),
    extensionsDir: join(cacheRoot(), 'duckdb'),
    temporaryDir: join(dataDir, 'tmp'),
  }
}

export interface Loaded {
  readonly lake: Lake
  /** Whole hours that hold the days. */
  readonly fromMs: number
  readonly toMs: number
}

/** Fills a lake as its writer would: the same columns, days and order of rows. More days are copies of the file, one day later each. */
export async function loadDays(settings: LakeSettings, file: string, days: number): Promise<Loaded> {
  const lake = await openLake(settings)
  await new LakeWriter(lake, 1).prepare()
  const source = `read_parquet(${literal(file)})`
  const range = await lake.use(async (connection) => {
    for (let day = 0; day < days; day += 1) {
      const laterMs = day * DAY_MS
      await connection.run(
        `INSERT INTO lake.positions (epoch, kafka_partition, kafka_offset, arrival_ms, key, event_day, kind, van, event_ms, lat, lon)
          SELECT 1, partition, "offset" + ${day} * (SELECT max("offset") + 1 FROM ${source}), "timestamp" + ${laterMs}, repartidor,
            DATE '1970-01-01' + ((data_ms + ${laterMs}) // ${DAY_MS})::INTEGER, 'position', repartidor, data_ms + ${laterMs}, lat, lon FROM ${source}`,
      )
    }
    const [row] = await connection.all<{ firstMs: number; lastMs: number; offset: number }>(
      `SELECT min(data_ms)::DOUBLE AS "firstMs", max("timestamp")::DOUBLE AS "lastMs", max("offset")::DOUBLE AS "offset" FROM ${source}`,
    )
    if (row === undefined) throw new Error(`${file} is empty`)
    const { firstMs, lastMs, offset } = row
    const endMs = lastMs + days * DAY_MS
    // What makes it final: heartbeats behind it.
    await connection.run(
      `INSERT INTO lake.positions (epoch, kafka_partition, kafka_offset, arrival_ms, event_day, kind, event_ms)
        SELECT DISTINCT 1, partition, ${(offset + 1) * days + 1}, ${endMs}, DATE '1970-01-01' + (${endMs} // ${DAY_MS})::INTEGER,
          ${literal(ROW_KINDS.heartbeat)}, ${endMs} FROM ${source}`,
    )
    const fromMs = Math.floor(firstMs / HOUR_MS) * HOUR_MS
    return { fromMs, toMs: Math.floor((lastMs + (days - 1) * DAY_MS) / HOUR_MS) * HOUR_MS }
  })
  return { lake, ...range }
}
