// The 140 real vehicles of a recorded day, played through MQTT to Postgres, with the windowing job killed in the middle.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { HEADERS, type LedgerReport, TOPICS } from '@km0/contracts'
import { openServing } from '@km0/serving'
import { openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PlatformUnderTest, root } from './platform.ts'

const recording = join(root, '..', 'shared', 'real', 'capmetro-140vans-2017-03-16.jsonl')
const absent = !existsSync(recording)
if (absent) console.warn('SKIPPED: the recorded day ../shared/real/capmetro-140vans-2017-03-16.jsonl is not here')

const FIXES = 24_996
const NULL_ISLAND_FIXES = 2
/** The oracle is slow on purpose: the whole day is a proof of its own. */
const ORACLE_RECORDS = 2_500
const PLAYED_WITHIN_MS = 180_000

interface LogLine {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: Readonly<Record<string, string>>
}

describe.skipIf(absent)('a real day from MQTT to Postgres', () => {
  let platform: PlatformUnderTest
  let positions: LogLine[] = []

  const read = async (topic: string): Promise<LogLine[]> => {
    const log = openLog({ brokers: platform.addresses().kafkaBrokers.split(','), clientId: 'real-day' })
    const lines: LogLine[] = []
    for await (const { records } of log.readTopic({ topic, until: await log.endOffsets(topic) })) {
      for (const { partition, offset, timestampMs, key, value, headers } of records) {
        lines.push({ partition, offset, timestamp: timestampMs, key, value: value?.toString('utf8') ?? null, headers })
      }
    }
    return lines
  }

  beforeAll(async () => {
    platform = await PlatformUnderTest.start(['--play', recording, '--speed', 'max'])
  }, 150_000)

  afterAll(() => platform?.stop())

  it(
    'plays all fixes while the windowing job is killed in mid-run',
    async () => {
      const out = () => platform.logOf('fleet')
      await platform.until(() => /\b(1\d|[2-9]\d) %/.test(out()) || /fixes are out/.test(out()), PLAYED_WITHIN_MS, 'a tenth of the day')
      const [pid] = platform.pidsOf('apps/stream', 'positions')
      expect(pid).toBeDefined()
      process.kill(pid as number, 'SIGKILL')
      await platform.until(() => out().includes(`all ${FIXES} fixes are out`), PLAYED_WITHIN_MS, 'the end of the day')
      await platform.until(() => /stream-positions is started again/.test(platform.said), 30_000, 'the restart of the job')
    },
    PLAYED_WITHIN_MS + 40_000,
  )

  it('Postgres holds what an offline replay of the log says, row for row', async () => {
    const { code, text } = await platform.command('verify.js', '--wait', '120')
    console.log(text)
    expect(text).toContain('PostgreSQL holds what the log says.')
    expect(code).toBe(0)
    positions = await read(TOPICS.positions.name)
    // A bridge that was restarted may have written a fix twice; lost none it has.
    const fixes = new Set(positions.filter(({ key }) => key !== null).map(({ value }) => value))
    expect(fixes.size).toBe(FIXES)
  }, 180_000)

  it('the ledger balances from the player to Postgres, over the restart of the job', async () => {
    const { code, text } = await platform.command(
      'ledger.js',
      '--all',
      '--drained',
      '--json',
      '--wait',
      '60',
      '--journal',
      platform.journal(),
    )
    const ledger = JSON.parse(text.slice(text.indexOf('{'))) as LedgerReport
    expect(ledger.steps.filter(({ unnamed }) => unnamed !== 0)).toEqual([])
    expect([code, ledger.balanced, ledger.lost]).toEqual([0, true, []])
    const count = (name: string) => ledger.stations.find((station) => station.name === name)?.count
    expect(count('publicats')).toBe(FIXES)
    expect(count('rebutjats')).toBe(NULL_ISLAND_FIXES)
    expect(count('desats')).toBeGreaterThan(1_000)
  }, 120_000)

  it('puts the two 0,0 fixes into the dead letters, and they add no distance', async () => {
    // What the killed job had written since its checkpoint was written again: the source offset tells.
    const dead = new Map<string, string>()
    for (const { value, headers } of await read(TOPICS.deadLetters.name)) {
      const { motiu } = JSON.parse(value ?? '{}') as { motiu: string }
      dead.set(`${headers[HEADERS.sourcePartition]}/${headers[HEADERS.sourceOffset]}`, motiu)
    }
    expect([...dead.values()]).toEqual(Array.from({ length: NULL_ISLAND_FIXES }, () => 'invalid'))
    const serving = openServing({ databaseUrl: platform.addresses().databaseUrl, applicationName: 'real-day' })
    try {
      let longestMm = 0
      for await (const { value } of serving.readAllResults({ kind: 'all' })) {
        if (value.tipus === 'distancia') longestMm = Math.max(longestMm, Number(value.distancia_mm))
      }
      // 70 m/s for five minutes; a leg to 0,0 would be ten thousand kilometres.
      expect(longestMm).toBeLessThan(21_000_000)
      expect(longestMm).toBeGreaterThan(1_000_000)
    } finally {
      await serving.close()
    }
  }, 60_000)

  it('agrees with the oracle over the log read back, row for row in order of emission', async ({ skip }) => {
    if (spawnSync('python3', ['--version']).status !== 0) {
      console.warn('SKIPPED: there is no python3 to run the oracle')
      skip()
    }
    const log = positions.filter(({ partition, offset }) => partition === 0 && offset < ORACLE_RECORDS)
    expect(log.length).toBe(ORACLE_RECORDS)
    const input = log.map((line) => `${JSON.stringify(line)}\n`).join('')
    const oracle = spawnSync('python3', ['test/oracle/oracle.py', 'positions', 'live'], {
      cwd: root,
      input,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    expect(oracle.status, oracle.stderr).toBe(0)
    const right = oracle.stdout
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as { topic: string; key: string; value: unknown; at: { offset: number } })
      .filter(({ topic }) => topic === 'panell')
      .map(({ key, value, at }) => JSON.stringify([at.offset, key, value]))
    // What the killed job had written since its checkpoint was written again, equal.
    const written = new Set<string>()
    for (const { partition, key, value, headers } of await read(TOPICS.panel.name)) {
      const offset = Number(headers[HEADERS.sourceOffset])
      if (partition === 0 && offset < ORACLE_RECORDS) written.add(JSON.stringify([offset, key, JSON.parse(value ?? 'null')]))
    }
    // Compaction may have taken a signal state that a later one of the same van replaced; windows and sessions have a key each.
    const known = new Set(right)
    expect([...written].filter((row) => !known.has(row))).toEqual([])
    const lasting = (rows: readonly string[]) => rows.filter((row) => !row.includes('"senyal|'))
    expect(lasting([...written])).toEqual(lasting(right))
    expect(right.length).toBeGreaterThan(500)
  }, 120_000)
})
