import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { type Lake, type LakeBatch, type LakeRecord, type LakeTable, LakeWriter, openLake, rowMaker } from '@km0/lake'
import type { TestServices } from '@km0/testkit/services'
import { lakeSettings } from './lake-folders.ts'

export const START_MS = 1_789_380_000_000
export const HOUR_MS = 3_600_000

/** A position a second late. */
export function position(partition: number, offset: number, van: string, eventMs: number, more: object = {}): LakeRecord {
  const value = { repartidor: van, lat: 41 + (offset % 1000) / 1000, lon: 2 + (offset % 777) / 1000, data_ms: eventMs, ...more }
  return { partition, offset, timestampMs: eventMs + 1_000, key: van, value: Buffer.from(JSON.stringify(value)), headers: {} }
}

/** What is appended for these records of one partition. */
export function batchOf(table: LakeTable, records: readonly LakeRecord[], fromOffset: number): LakeBatch {
  const maker = rowMaker(table, 1, DEFAULT_POSITIONS_SETTINGS)
  const rows = records.map((record) => maker.row(record)).filter((row) => row !== null)
  const last = records.at(-1)
  const [partition, nextOffset] = [last?.partition ?? 0, (last?.offset ?? 0) + 1]
  return { table, partition, fromOffset, nextOffset, rows, newestArrivalMs: last?.timestampMs ?? null, newestEventMs: null }
}

/** A lake of that name with nothing in it. */
export async function newLake(
  services: Pick<TestServices<{ postgres: true }>, 'postgres' | 'dataDir'>,
  name: string,
  inlineRows = 50,
): Promise<{ lake: Lake; writer: LakeWriter }> {
  const lake = await openLake(lakeSettings(services, name, { inlineRows }))
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  return { lake, writer }
}
