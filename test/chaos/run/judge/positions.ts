// Results of positions against the log: in PostgreSQL by `verify`, in Kafka by the oracle.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { HEADERS, TOPICS } from '@km0/contracts'
import type { Addresses } from '@km0/infra/launcher/parts'
import type { Log, LogRecord } from '@km0/transport'
import { type Check, firstOf } from './check.ts'

/** The oracle is slow on purpose. */
const ORACLE_RECORDS = 2_500
const VERIFY_WAIT_S = 120

/** Runs `verify`: every row in PostgreSQL is what an offline replay of the log says. */
export async function judgeRows(root: string, addresses: Addresses): Promise<Check> {
  const words = [join(root, 'packages', 'cli', 'dist', 'verify.js'), '--wait', String(VERIFY_WAIT_S)]
  const environment = { ...process.env, KAFKA_BROKERS: addresses.kafkaBrokers, DATABASE_URL: addresses.databaseUrl }
  const child = spawn(process.execPath, words, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const equal = /^equal: .*$/m.exec(text)?.[0] ?? ''
  return { name: 'PostgreSQL holds what a replay of the log says', passed: code === 0, detail: code === 0 ? equal : text.trim() }
}

/** What the job wrote for one partition that holds vans is what the oracle says, row for row: nothing missing, nothing else. The seed chooses it. */
export async function judgeWithOracle(root: string, log: Log, seed: number): Promise<Check> {
  const all = await readAll(log, TOPICS.positions.name)
  const withVans = [...new Set(all.filter(({ key }) => key !== null).map(({ partition }) => partition))].sort()
  const partition = withVans[seed % withVans.length] ?? 0
  const name = `windows, sessions and signals of partition ${partition} are the oracle's`
  const input = all.filter((record) => record.partition === partition && record.offset < ORACLE_RECORDS)
  const lines = input.map(({ partition, offset, timestampMs, key, value }) =>
    JSON.stringify({ partition, offset, timestamp: timestampMs, key, value: value?.toString('utf8') ?? null }),
  )
  const oracle = spawnSync('python3', [join(root, 'test', 'oracle', 'oracle.py'), 'positions', 'live'], {
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (oracle.status !== 0) return { name, passed: false, detail: `the oracle failed: ${oracle.stderr ?? oracle.error}` }
  const right = new Set(
    oracle.stdout
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as { topic: string; key: string; value: unknown; at: { offset: number } })
      .filter(({ topic }) => topic === 'panell')
      .map(({ key, value, at }) => JSON.stringify([at.offset, key, value])),
  )
  // A job that was killed writes again what it had written since its checkpoint: equal, so a set of rows is enough.
  const written = new Set(
    (await readAll(log, TOPICS.panel.name))
      .filter(
        ({ headers }) => Number(headers[HEADERS.sourcePartition]) === partition && Number(headers[HEADERS.sourceOffset]) < ORACLE_RECORDS,
      )
      .map(({ key, value, headers }) =>
        JSON.stringify([Number(headers[HEADERS.sourceOffset]), key, JSON.parse(value?.toString('utf8') ?? 'null')]),
      ),
  )
  // Compaction may have taken a signal state that a later one of the same van replaced; `verify` has judged the last one.
  const missing = [...right].filter((row) => !written.has(row) && !row.includes('"senyal|'))
  const wrong = [...written].filter((row) => !right.has(row))
  return {
    name,
    passed: missing.length === 0 && wrong.length === 0 && right.size > 0,
    detail: `${input.length} records, ${right.size} rows, missing ${missing.length}, others ${wrong.length}${
      missing.length + wrong.length === 0 ? '' : `: ${firstOf([...missing, ...wrong])}`
    }`,
  }
}

async function readAll(log: Log, topic: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const batch of log.readTopic({ topic })) records.push(...batch.records)
  return records
}
