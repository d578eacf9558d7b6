import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { DEFAULT_LAKE_SETTINGS, type LakeRecord, LakeWriter, openLake, POSITIONS, rowMaker } from '@km0/lake'

/**
 * A program for `lake-kill.test.ts`: appends a log that is a function of its offsets to the lake, from where the lake stands, in batches
 * whose sizes differ from run to run. Usage: catalogUrl dataPath extensionsDir temporaryDir endOffset seed
 */

export const KILL_PARTITIONS = [0, 1]
export const KILL_SCHEMA = 'lake_kill'
const START_MS = 1_789_380_000_000

/** The record at an offset: every 50th is refused, every 20th a heartbeat; vans have a point each 5 s over three days. */
export function recordAt(partition: number, offset: number): LakeRecord {
  const eventMs = START_MS + offset * 21_600
  const van = `furgoneta-${partition}-${offset % 5}`
  const value =
    offset % 50 === 49
      ? '{broken'
      : offset % 20 === 19
        ? `{"tipus":"batec","data_ms":${eventMs},"pont":"p"}`
        : JSON.stringify({ repartidor: van, lat: 41 + offset / 1e6, lon: 2.5, data_ms: eventMs })
  return { partition, offset, timestampMs: eventMs + 900, key: van, value: Buffer.from(value), headers: {} }
}

async function main(args: readonly string[]): Promise<void> {
  const [catalogUrl = '', dataPath = '', extensionsDir = '', temporaryDir = '', end = '', seed = ''] = args
  const lake = await openLake({
    ...DEFAULT_LAKE_SETTINGS,
    inlineRows: 150,
    catalogUrl,
    catalogSchema: KILL_SCHEMA,
    dataPath,
    extensionsDir,
    temporaryDir,
  })
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  const next = new Map<number, number>()
  for (const partition of KILL_PARTITIONS) next.set(partition, await writer.nextOffset(POSITIONS, partition))
  console.log(`started at ${[...next.values()].join(',')}`)
  let random = Number(seed) + 1
  while ([...next.values()].some((offset) => offset < Number(end))) {
    const batches = KILL_PARTITIONS.flatMap((partition) => {
      random = (random * 48_271) % 2_147_483_647
      const from = next.get(partition) ?? 0
      const until = Math.min(Number(end), from + 20 + (random % 280))
      const records = Array.from({ length: until - from }, (_, index) => recordAt(partition, from + index))
      const rows = records.map((record) => maker.row(record)).filter((row) => row !== null)
      const newestArrivalMs = records.at(-1)?.timestampMs ?? null
      return until === from
        ? []
        : [{ table: POSITIONS, partition, fromOffset: from, nextOffset: until, rows, newestArrivalMs, newestEventMs: null }]
    })
    await writer.append(batches)
    for (const batch of batches) next.set(batch.partition, batch.nextOffset)
    console.log(`stored ${[...next.values()].join(',')}`)
  }
  await writer.close()
  console.log('done')
  process.exit(0)
}

if (process.argv[1]?.includes('lake-writer')) await main(process.argv.slice(2))
