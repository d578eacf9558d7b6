import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// The core inside another engine: results by key and last value are those of a replay of the same log, with instances killed in the middle.

const JARS = 'infra/engines/kafka-streams/target'
const isBuilt = existsSync(`${JARS}/lib`) && existsSync('infra/engines/dist/km0-engine.js')
if (!isBuilt)
  console.warn('skipped: build first: pnpm build:engine && mvn -q -B -DskipTests -f infra/engines/kafka-streams/pom.xml package')

const PARTITIONS = 4
const SEEDS = Number(process.env.ENGINE_SEEDS ?? '8')
const VANS = 10
const OUTPUTS = { panell: TOPICS.panel.name, tardans: TOPICS.late.name, rebutjats: TOPICS.deadLetters.name, viu: TOPICS.live.name } as const
/** A slow machine is no fault. */
const WITHIN_MS = 240_000

/** Records of `seeds` random fleets, each an hour long with vans of its own and after the one before. */
function randomLog(seeds: number, startMs: number): OutRecord[] {
  let state = 12_345
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state / 0x8000_0000
  }
  const below = (limit: number) => Math.floor(random() * limit)
  const records: OutRecord[] = []
  const put = (partition: number, timestampMs: number, value: string) =>
    records.push({ topic: TOPICS.positions.name, key: null, value, partition, timestampMs: Math.floor(timestampMs) })
  const stepMs = 3_600_000 / 120
  for (let seed = 0; seed < seeds; seed += 1) {
    for (let step = 0; step < 120; step += 1) {
      const nowMs = startMs + (seed * 120 + step) * (stepMs / 10)
      for (let van = 0; van < VANS; van += 1) {
        const lateMs = random() < 0.03 ? below(1_500_000) : below(40_000)
        const dataMs = Math.floor(random() < 0.02 ? nowMs + 200_000 : nowMs - lateMs)
        const [lat, lon] = random() < 0.01 ? [0, 0] : [41.9 + van / 100 + random() / 300, 2.8 + random() / 300]
        const name = `furgoneta-${seed}-${van}`
        const value = random() < 0.01 ? '{"repartidor":' : `{"repartidor":"${name}","lat":${lat},"lon":${lon},"data_ms":${dataMs}}`
        const partition = van % PARTITIONS
        put(partition, nowMs, value)
        if (random() < 0.02) put(partition, nowMs, value)
      }
      if (step % 5 !== 0) continue
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        put(partition, nowMs, `{"tipus":"batec","data_ms":${Math.floor(nowMs)}}`)
        const settings = `{"tipus":"parametres","data_ms":${Math.floor(nowMs)},"retard_ms":${below(60_000)},"marge_ms":${below(300_000)}}`
        if (random() < 0.05) put(partition, nowMs, settings)
      }
    }
  }
  return records
}

/** Rows by output and key: the last value of each; of keyless or unordered outputs all values, sorted. */
function fold(rows: Iterable<{ output: string; key: string | null; value: string }>): Map<string, string[]> {
  const folded = new Map<string, string[]>()
  for (const { output, key, value } of rows) {
    const name = `${output} ${key}`
    if (output === 'panell' || output === 'viu') folded.set(name, [value])
    else folded.set(name, [...(folded.get(name) ?? []), value])
  }
  for (const values of folded.values()) values.sort()
  return new Map([...folded].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function expected(records: readonly OutRecord[]) {
  const host = createPositionsHost()
  const offsets = new Array<number>(PARTITIONS).fill(0)
  for (const { partition = 0, timestampMs = 0, value } of records) {
    const text = value as string
    host.onRecord(partition, offsets[partition]!, timestampMs, null, text, Buffer.byteLength(text), true)
    offsets[partition]! += 1
  }
  return host.drain()
}

describe.skipIf(!isBuilt)('Kafka Streams', () => {
  let services: TestServices<{ kafka: true }>
  let log: Log
  const running = new Set<ChildProcess>()
  /** Those that have said that their tasks run. */
  const runs = new Set<ChildProcess>()

  beforeAll(async () => {
    services = await startServices({ kafka: true })
    log = openLog({ brokers: services.environment.KAFKA_BROKERS!.split(','), clientId: 'engines' })
    const four = Object.fromEntries(
      [TOPICS.positions, TOPICS.panel, TOPICS.live, TOPICS.late].map(({ name }) => [name, { partitions: PARTITIONS }]),
    )
    await log.ensureTopics(Object.values(TOPICS), four)
  }, WITHIN_MS)

  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL')
    await services?.stop()
  })

  function start(name: string): ChildProcess {
    const words = [
      '-Xmx512m',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-cp',
      `${JARS}/classes:${JARS}/lib/*`,
      'km0.streams.Main',
      'positions',
    ]
    const child = spawn('java', words, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...services.environment,
        KM0_ENGINE_DIR: join(services.dataDir, name),
        KM0_ENGINE_EPOCH: '1',
        KM0_ENGINE_SNAPSHOT_MS: '1500',
      },
    })
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('state RUNNING')) runs.add(child)
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const endMs = Date.now() + WITHIN_MS; Date.now() < endMs; await sleep(250)) if (await holds().catch(() => false)) return
    throw new Error(`not within ${WITHIN_MS} ms: ${what}`)
  }

  const done = async () =>
    [...(await log.committedOffsets('km0-streams-positions', TOPICS.positions.name)).values()].reduce((a, b) => a + b, 0)

  async function written() {
    const rows: { output: string; key: string | null; value: string; headers: Readonly<Record<string, string>> }[] = []
    for (const [output, topic] of Object.entries(OUTPUTS)) {
      for await (const { records } of log.readTopic({ topic })) {
        for (const { key, value, headers } of records) rows.push({ output, key, value: String(value), headers })
      }
    }
    return rows
  }

  it(
    `gives what a replay gives for ${SEEDS} random logs, one instance killed in the middle and another stopped in order`,
    async () => {
      const records = randomLog(SEEDS, Date.now() - 7_200_000 - SEEDS * 360_000)
      const producer = await log.openProducer()
      const half = records.length >> 1
      await producer.send(records.slice(0, half))
      const first = start('first')
      await until('a quarter applied', async () => (await done()) > half / 2)
      await sleep(2_500)
      await producer.send(records.slice(half))
      first.kill('SIGKILL')
      const second = start('second')
      await until('three quarters applied', async () => (await done()) > (records.length * 3) / 4)
      second.kill('SIGTERM')
      await once(second, 'exit')
      const third = start('third')
      await until('the third runs', async () => runs.has(third))
      await until('all applied', async () => (await done()) >= records.length)
      // What waited is told within a commit or two.
      await sleep(4_000)
      third.kill('SIGTERM')
      await once(third, 'exit')
      const rows = await written()
      const want = expected(records)
      expect(want.length).toBeGreaterThan(SEEDS * 100)
      const live = ({ output }: { output: string }) => output === 'viu'
      expect(fold(rows)).toEqual(fold(want))
      // Once: of the topics that the broker does not compact, no row is missing and none is there twice; `fold` keeps all of them.
      expect(rows.filter((row) => !live(row)).length).toBeLessThanOrEqual(want.filter((row) => !live(row)).length)
      for (const { headers } of rows) expect(headers).toMatchObject({ epoca: '1' })
    },
    WITHIN_MS * 3,
  )
})
