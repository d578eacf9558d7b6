import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { type Lake, LakeFencedError, LakeWriter, lakeStatus, maintain, openLake, POSITIONS, readLog, rowMaker } from '@km0/lake'
import { startServices, type TestServices } from '@km0/testkit/services'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from '../adapters/lake-folders.ts'
import { KILL_PARTITIONS, KILL_SCHEMA, recordAt } from './lake-writer.ts'

const END = 12_000
const KILLS = 20
let services: TestServices<{ postgres: true }>
let missing: string | null
let program: string

beforeAll(async () => {
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
  // Beside the sources, so that the bundle finds the packages that it leaves outside.
  program = fileURLToPath(new URL('../dist/lake-writer.js', import.meta.url))
  await build({
    entryPoints: [fileURLToPath(new URL('lake-writer.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@duckdb/*'],
  })
})
afterAll(() => services?.stop())

const settings = () => lakeSettings(services, 'kill', { catalogSchema: KILL_SCHEMA })

function startWriter(seed: number): ChildProcess {
  const { catalogUrl, dataPath, extensionsDir, temporaryDir } = settings()
  const words = [program, catalogUrl, dataPath ?? '', extensionsDir, join(temporaryDir, String(seed)), String(END), String(seed)]
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function storedTexts(lake: Lake, partition: number): Promise<Map<number, string | null>> {
  const texts = new Map<number, string | null>()
  for await (const part of readLog(lake, { table: POSITIONS, epoch: 1, partition, stepOffsets: 5_000 }))
    for (const { offset, text } of part) {
      expect(texts.has(offset), `offset ${offset} twice`).toBe(false)
      texts.set(offset, text)
    }
  return texts
}

it(`stores every record once, whenever the writer is killed (${KILLS} times)`, { timeout: 400_000 }, async (test) => {
  test.skip(missing !== null, missing ?? '')
  let stored = 0
  let kills = 0
  for (let run = 0; ; run += 1) {
    const child = startWriter(run)
    const lines = createInterface({ input: child.stdout! })
    let last = ''
    let killAfterMs = kills < KILLS ? 5 + ((run * 7_919) % 240) : Number.POSITIVE_INFINITY
    for await (const line of lines) {
      if (line.startsWith('started')) expect(Number(/at (\d+)/.exec(line)?.[1])).toBeGreaterThanOrEqual(stored)
      if (Number.isFinite(killAfterMs)) {
        const wait = killAfterMs
        killAfterMs = Number.POSITIVE_INFINITY
        void sleep(wait).then(() => child.kill('SIGKILL'))
      }
      if (line.startsWith('stored')) stored = Number(/stored (\d+)/.exec(line)?.[1])
      last = line
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    if (child.signalCode === 'SIGKILL') kills += 1
    if (last === 'done') break
    expect(run, 'the writer does not come to its end').toBeLessThan(KILLS + 5)
  }
  expect(kills).toBeGreaterThanOrEqual(KILLS / 2)
  const lake = await openLake(settings())
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  const check = async () => {
    for (const partition of KILL_PARTITIONS) {
      const expected = Array.from({ length: END }, (_, offset) => recordAt(partition, offset)).filter(
        (record) => maker.row(record) !== null,
      )
      const found = await storedTexts(lake, partition)
      expect(found.size).toBe(expected.length)
      for (const { offset, value } of expected) expect(found.get(offset)).toBe(value?.toString())
    }
    const status = await lakeStatus(lake)
    expect(status.partitions.map(({ nextOffset }) => nextOffset)).toEqual(KILL_PARTITIONS.map(() => END))
    return status
  }
  const before = await check()
  // Everything, with what the killed writers left on the disk, is tidied up; no row changes.
  const report = await maintain(lake, { keepSnapshotsMs: 0, keepFilesMs: 0 }, Date.now() + 60_000)
  const after = await check()
  const files = (status: typeof before) => status.tables.find(({ table }) => table === 'positions')?.files ?? 0
  console.log(`${kills} kills; ${files(before)} files became ${files(after)}; ${JSON.stringify(report)}`)
  expect(files(after)).toBeLessThanOrEqual(4)
  lake.close()
})

it('refuses the commit of a writer that has lost its partition', async (test) => {
  test.skip(missing !== null, missing ?? '')
  const lake = await openLake(lakeSettings(services, 'zombie'))
  const [old, young] = [new LakeWriter(lake, 1), new LakeWriter(lake, 1)]
  await old.prepare()
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  const batch = (from: number, until: number) => ({
    table: POSITIONS,
    partition: 0,
    fromOffset: from,
    nextOffset: until,
    rows: Array.from({ length: until - from }, (_, index) => maker.row(recordAt(0, from + index))).filter((row) => row !== null),
    newestArrivalMs: null,
    newestEventMs: null,
  })
  expect([await old.nextOffset(POSITIONS, 0), await young.nextOffset(POSITIONS, 0)]).toEqual([0, 0])
  await young.append([batch(0, 10)])
  await expect(old.append([batch(0, 7)])).rejects.toThrow(LakeFencedError)
  // Both at once: one is stored, whichever comes first.
  const outcomes = await Promise.allSettled([old.append([batch(10, 15)]), young.append([batch(10, 18)])])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const end = outcomes[0]?.status === 'fulfilled' ? 15 : 18
  expect(await young.nextOffset(POSITIONS, 0)).toBe(end)
  expect([...(await storedTexts(lake, 0)).keys()]).toEqual(Array.from({ length: end }, (_, offset) => offset))
  // The answer to a commit was lost: the same call again changes nothing.
  const again = batch(end, end + 5)
  await young.append([again])
  await young.append([again])
  expect((await storedTexts(lake, 0)).size).toBe(end + 5)
  lake.close()
})
