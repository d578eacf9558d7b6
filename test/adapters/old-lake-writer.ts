// Records a small lake as the code of this checkout writes it: `npx tsx test/adapters/old-lake-writer.ts test/adapters/recorded/lake-COMMIT.json.gz`.
// The files there were made by it with the code of the commit in their name; what they hold is in lake-recorded.test.ts.
import { join } from 'node:path'
import { type LakeTable, LakeWriter, maintain, openLake, POSITIONS, rowMaker, STOCK_EVENTS } from '@km0/lake'
import { openPgPool } from '@km0/serving/pool'
import { startServices } from '@km0/testkit/services'
import { lakeSettings } from './lake-folders.ts'
import { recordLake } from './recorded-lake.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('where to?')

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 8, 14, 6)
const position = (offset: number, extra: object = {}) => ({
  partition: 0,
  offset,
  timestampMs: START_MS + offset * HOUR_MS + 1_000,
  key: 'furgoneta-1',
  headers: {},
  value: Buffer.from(JSON.stringify({ repartidor: 'furgoneta-1', lat: 41.98, lon: 2.82, data_ms: START_MS + offset * HOUR_MS, ...extra })),
})
const stock = (offset: number) => ({
  ...position(offset),
  key: 'ous|girona',
  value: Buffer.from(
    JSON.stringify({
      tipus: 'estoc.actualitzat',
      data_ms: START_MS + offset,
      dades: { producte: 'ous', mercat: 'girona', estoc_actual: 9, delta: -1, replica: 'r' },
    }),
  ),
})

const services = await startServices({ postgres: true })
const settings = lakeSettings(services, 'recorded')
const lake = await openLake(settings)
const writer = new LakeWriter(lake, 1)
await writer.prepare()

async function append(table: LakeTable, records: readonly ReturnType<typeof position>[]): Promise<void> {
  const maker = rowMaker(table, 1, { maxFutureMs: 120_000, maxAgeMs: 7 * 24 * HOUR_MS, refuseNullIsland: true })
  const rows = records.map((record) => maker.row(record)).filter((row) => row !== null)
  const fromOffset = await writer.nextOffset(table, 0)
  const newest = { newestArrivalMs: records.at(-1)?.timestampMs ?? null, newestEventMs: START_MS }
  await writer.append([{ table, partition: 0, fromOffset, nextOffset: fromOffset + records.length, rows, ...newest }])
}

// Two days in files, with a member that no version knows; then what is still in the catalog, inlined.
await append(
  POSITIONS,
  Array.from({ length: 30 }, (_, offset) => position(offset, offset === 3 ? { bateria: 71 } : {})),
)
await append(STOCK_EVENTS, [stock(0), stock(1)])
await maintain(lake, { keepSnapshotsMs: 86_400_000, keepFilesMs: 86_400_000 }, Date.now())
await append(POSITIONS, [position(30), position(31)])
await writer.close()
lake.close()
const pool = openPgPool({ databaseUrl: services.postgres.url, applicationName: 'recorder' })
await recordLake(pool, settings.catalogSchema, join(services.dataDir, 'lake', 'recorded'), file)
await pool.end()
await services.stop()
process.exit(0)
