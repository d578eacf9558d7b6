import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { TOPICS } from '@km0/contracts'
import { Pool } from '@km0/serving/pool'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generatedLog } from './generated-log.ts'
import { buildStream, StreamProcess, until, verify } from './stream-process.ts'

let services: TestServices<{ kafka: true; postgres: true }>
let log: Log
let environment: Record<string, string>
const running = new Set<StreamProcess>()
beforeAll(async () => {
  buildStream()
  services = await startServices({ kafka: true, postgres: true })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  await log.ensureTopics(Object.values(TOPICS))
  environment = {
    ...services.environment,
    KM0_CHECKPOINT_DIR: join(services.dataDir, 'checkpoints'),
    // Small slices and frequent checkpoints: there is much to interrupt.
    KM0_CHECKPOINT_INTERVAL_MS: '200',
    KM0_STREAM_SLICE_RECORDS: '100',
  }
})
afterAll(async () => {
  await Promise.all([...running].map((process) => process.kill9()))
  await services?.stop()
})

async function start(role: string): Promise<StreamProcess> {
  const started = await StreamProcess.start(role, environment)
  running.add(started)
  return started
}

async function kill9(process: StreamProcess): Promise<void> {
  running.delete(process)
  await process.kill9()
}

async function write(records: readonly OutRecord[]): Promise<void> {
  const producer = await log.openProducer()
  await producer.send(records)
  await producer.close()
}

/** Cuts the newest checkpoint of each partition short, as a disk that was full would have. */
function damageNewestCheckpoints(): number {
  const folder = join(environment.KM0_CHECKPOINT_DIR ?? '', 'positions', 'epoch-1')
  let damaged = 0
  for (const partition of readdirSync(folder)) {
    const files = readdirSync(join(folder, partition)).filter((name) => name.endsWith('.checkpoint'))
    const newest = files.sort().at(-1)
    if (newest === undefined || files.length < 2) continue
    truncateSync(join(folder, partition, newest), 100)
    damaged += 1
  }
  return damaged
}

const applied = (process: StreamProcess) => process.metric('km0_stream_records_total')

describe('jobs that are killed', () => {
  const all = generatedLog({
    seed: 7,
    vans: 60,
    minutes: 120,
    endMs: Math.floor(Date.now() / 60_000) * 60_000,
    partitions: TOPICS.positions.partitions,
  })
  const third = Math.floor(all.length / 3)

  it('leave the same results as jobs that were never interrupted', async () => {
    await write(all.slice(0, third))
    let serving = await start('serving')
    let positions = await start('positions')
    await until('half of the first third is applied', async () => (await applied(positions)) > third / 2)
    // A quick machine has applied all of it before the first checkpoint is due.
    await until('a checkpoint is taken', async () => (await positions.metric('km0_stream_checkpoint_duration_seconds_count')) > 0)
    await kill9(positions)

    await write(all.slice(third, 2 * third))
    positions = await start('positions')
    // A partition is restored with its first batch; the one that has a checkpoint need not be the first of them.
    await until('it went on from a checkpoint', async () => (await positions.metric('km0_stream_restores_total', 'from="checkpoint"')) > 0)
    await until('it is well into the second third', async () => (await applied(positions)) > third / 2)
    await Promise.all([kill9(positions), kill9(serving)])

    expect(damageNewestCheckpoints()).toBeGreaterThan(0)
    serving = await start('serving')
    positions = await start('positions')
    await write(all.slice(2 * third))
    await until('a damaged checkpoint is passed over', async () => (await positions.metric('km0_stream_checkpoints_damaged_total')) > 0)

    const second = await start('positions')
    await until('both have partitions', async () => (await applied(second)) > 0 && (await applied(positions)) > 0)
    await kill9(positions)
    const { code, output } = await verify(environment)
    console.log(output)
    expect(code, output).toBe(0)
    expect(Number(/equal: (\d+) rows/.exec(output)?.[1])).toBeGreaterThan(5_000)
    expect(output).toMatch(/distancia \d+.*sessio \d+.*senyal 60/)

    running.delete(second)
    expect(await second.stop()).toBe(0)
    running.delete(serving)
    expect(await serving.stop()).toBe(0)
  }, 240_000)

  it('and verify does see a row that is wrong, missing or too much', async () => {
    const pool = new Pool({ databaseUrl: services.postgres.url, applicationName: 'test' })
    // A place in the table is told by its key: each day is a table of its own, with places of its own.
    await pool.query(
      `update km0.distance_row set distance_mm = distance_mm + 1
       where (van, window_end_ms) = (select van, window_end_ms from km0.distance_row limit 1)`,
    )
    await pool.query(`delete from km0.signal_state where van = 'furgoneta-3'`)
    await pool.query(
      `insert into km0.session_row (van, start_ms, end_ms, positions, epoch, source_partition, source_offset, written_at_ms)
       select 'ghost', start_ms, end_ms, 1, epoch, source_partition, source_offset, 0 from km0.session_row limit 1`,
    )
    await pool.close()
    const { code, output } = await verify(environment)
    expect(code, output).toBe(1)
    expect(output).toMatch(/different: 3 rows/)
    expect(output).toMatch(/missing: senyal\|furgoneta-3/)
    expect(output).toMatch(/unexpected: sessio\|ghost/)
    expect(output).toMatch(/different: distancia\|/)
  })

  it('and verify says when it cannot tell, because a job is behind', async () => {
    await write([{ topic: TOPICS.positions.name, key: null, partition: 0, value: '{}' }])
    const { code, output } = await verify(environment, 1)
    expect(code, output).toBe(2)
    expect(output).toMatch(/windowing job has not said that it is through: partition 0/)
  })
})

describe('a log that is not the one of the checkpoints', () => {
  it('stops the start, and says what to do', async () => {
    const other = await startServices({ kafka: true })
    try {
      const { code, output } = await StreamProcess.runToEnd('positions', { ...environment, ...other.environment })
      expect(code).toBe(1)
      expect(output).toMatch(/belong to the Kafka cluster .* epoch raise/)
    } finally {
      await other.stop()
    }
  })
})
