import { spawnSync } from 'node:child_process'
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DEFAULT_POSITIONS_SETTINGS, TOPICS, type TopicDefinition } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { ResultDigest } from './result-digest.ts'

export const PARTITIONS = 4
const DAY_MS = 86_400_000
const BATCH_RECORDS = 10_000
/** The oracle in Python goes through all records again and again: beyond this it takes minutes. */
const LARGEST_FOR_ORACLE = 60_000

const RESULTS = [TOPICS.panel, TOPICS.live, TOPICS.marks, TOPICS.late, TOPICS.deadLetters]

export interface LiveLog {
  readonly log: Log
  readonly records: number
  /** What results are to be: those of the pure core over the same log. */
  readonly expected: { readonly digest: string; readonly hash: string }
}

interface Line {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: string
  readonly value: string
}

/** Writes a day into an empty log, by whole days nearer to now, or its age would let Kafka delete it; and computes in one go what must come out of it. */
export async function fillLog(brokers: string, file: string): Promise<LiveLog> {
  const log = openLog({ brokers: [brokers], clientId: 'bench' })
  await createTopics(log, [TOPICS.positions, ...RESULTS])
  const producer = await log.openProducer()
  const host = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, livePoints: false })
  const expected = new ResultDigest()
  let batch: OutRecord[] = []
  let laterMs = Number.NaN
  const forOracle: string[] = []
  let records = 0
  const flush = async () => {
    for (const { output, key, value } of host.drain()) if (output === 'panell' && key !== null) expected.add(key, value)
    await producer.send(batch)
    batch = []
  }
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = JSON.parse(text) as Line
    // The newest day that is over by now.
    if (Number.isNaN(laterMs)) laterMs = Math.floor((Date.now() - line.timestamp) / DAY_MS - 1) * DAY_MS
    const { partition, offset, timestamp, key, value } = later(line, laterMs)
    host.onRecord(partition, offset, timestamp, null, value, Buffer.byteLength(value), true)
    if (records < LARGEST_FOR_ORACLE) forOracle.push(JSON.stringify({ partition, offset, timestamp, key, value }))
    batch.push({ topic: TOPICS.positions.name, partition, timestampMs: timestamp, key, value })
    records += 1
    if (batch.length === BATCH_RECORDS) await flush()
  }
  await flush()
  await producer.close()
  const digest = expected.digest()
  if (records <= LARGEST_FOR_ORACLE) requireOracle(forOracle, digest)
  return { log, records, expected: { digest, hash: expected.hash() } }
}

function later(line: Line, laterMs: number): Line {
  const value = line.value.replace(/"data_ms":(\d+)/, (_, ms) => `"data_ms":${Number(ms) + laterMs}`)
  return { ...line, timestamp: line.timestamp + laterMs, value }
}

/** What the core computed is what the oracle says; throws when it is not. */
function requireOracle(lines: readonly string[], digest: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'km0-bench-oracle-'))
  const file = join(directory, 'log.ndjson')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const oracle = `python3 test/oracle/oracle.py positions live --delay ${DEFAULT_POSITIONS_SETTINGS.delayMs} < "$0" | python3 test/bench/peers/digest.py`
  const { status, stdout, stderr } = spawnSync('sh', ['-c', oracle, file], { encoding: 'utf8' })
  rmSync(directory, { recursive: true })
  if (status !== 0) throw new Error(`the oracle ended with ${status}: ${stderr.slice(-500)}`)
  if (stdout.trim() !== digest) throw new Error(`the core computes ${digest}, the oracle ${stdout.trim()}`)
  process.stderr.write('the oracle gives the same rows\n')
}

/** Empties what a run wrote: results, and the place of a group. */
export async function forgetResults(log: Log, groups: readonly string[]): Promise<void> {
  await log.deleteGroups(groups)
  await log.deleteTopics(RESULTS.map(({ name }) => name))
  await createTopics(log, RESULTS)
}

/** With as many partitions as the day has. */
async function createTopics(log: Log, topics: readonly TopicDefinition[]): Promise<void> {
  const cut = Object.fromEntries(topics.map(({ name, partitions }) => [name, { partitions: partitions > 1 ? PARTITIONS : 1 }]))
  for (let attempt = 1; ; attempt += 1) {
    try {
      await log.ensureTopics(topics, cut)
      return
    } catch (error) {
      // A topic that is being deleted is still there for a moment.
      if (attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

/** What a topic of results holds. */
export async function digestOf(log: Log, topic: string): Promise<ResultDigest> {
  const digest = new ResultDigest()
  for await (const { records } of log.readTopic({ topic })) {
    for (const { key, value } of records) if (key !== null && value !== null) digest.add(key, value.toString('utf8'))
  }
  return digest
}

/** An empty topic for the results of a peer. */
export async function newTopic(log: Log, name: string): Promise<void> {
  await createTopics(log, [{ ...TOPICS.late, name }])
}
