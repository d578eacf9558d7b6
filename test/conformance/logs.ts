import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS, encodeHeartbeat, encodeSettings, TOPICS } from '@km0/contracts'
import { createPositionsHost, createStockHost } from '@km0/pipelines'
import type { OutRecord } from '@km0/transport'

const ORACLE = 'test/oracle'
/** A recorded day; beside the repository, and left out where it is not. */
export const DAY_FILE = '../shared/real/capmetro-140vans-2017-03-16.jsonl'
const DAY_MS = 86_400_000
/** Partitions of each chain of random logs, and of the recorded day. */
const CHAIN = 3
const LOGS_IN_A_CHAIN = 50
const DAY_PARTITIONS = 4
export const STOCK_SOURCES = 3
/** Where generated logs begin: times keep their 13 digits when they are moved. */
const GENERATED_MS = 1_789_380_000_000
const FAR_MS = 700 * DAY_MS
/** Our topics keep records for 8 days, counted from their timestamps. */
const KEPT_MS = 7 * DAY_MS
/** Between two logs of a chain: more than any of their records is late. */
const APART_MS = 1_800_000

/** A row as it is judged: what is late or refused by its cause, everything else by key. */
export interface Row {
  readonly output: string
  readonly key: string | null
  readonly value: string
  /** Partition and offset of the record that caused it. */
  readonly partition: number
  readonly offset: number
}

/** Logs that share the topic of positions, each with partitions of its own. */
export interface Case {
  readonly name: string
  readonly partitions: readonly number[]
  readonly want: readonly Row[]
  /** Live points count. */
  readonly live: boolean
}

export interface Plan {
  /** In the order in which they are written. */
  readonly records: readonly OutRecord[]
  readonly positionPartitions: number
  readonly cases: readonly Case[]
  readonly stockWant: readonly Row[]
  readonly stockLogs: number
}

interface Line {
  readonly partition: number
  readonly timestamp: number
  readonly value: string | null
}

interface Listed {
  readonly name: string
  readonly words: readonly string[]
  readonly log: string
  readonly want: readonly { topic: string; key: string | null; value: unknown; at: { partition: number; offset: number } }[]
}

function python(words: readonly string[]): unknown[] {
  const { status, stdout, stderr } = spawnSync('python3', words, { encoding: 'utf8', maxBuffer: 1 << 30 })
  if (status !== 0) throw new Error(`python3 ${words[0]}: ${stderr.slice(-1_000)}`)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}

const parse = (log: string): Line[] =>
  log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Line)

/** Random logs of the generator that the oracle has, `count` of them. */
function randomLogs(job: 'positions' | 'stock', count: number, partitions: number): Line[][] {
  const script = [
    `import sys, json, random; sys.path.insert(0, ${JSON.stringify(ORACLE)}); import gen`,
    `for seed in range(1, ${count + 1}):`,
    '  rng = random.Random(seed)',
    `  print(json.dumps([{"partition": p, "timestamp": t, "value": v} for p, t, k, v in gen.${job}(rng, rng.choice([50, 200, 600]), ${partitions})]))`,
  ].join('\n')
  return python(['-c', script]) as Line[][]
}

const topicOf = (job: 'positions' | 'stock') => (job === 'positions' ? TOPICS.positions.name : TOPICS.stockEvents.name)
const record = (job: 'positions' | 'stock', { partition, timestamp, value }: Line): OutRecord => ({
  topic: topicOf(job),
  key: null,
  value,
  partition,
  timestampMs: timestamp,
})

/** Logs one after the other in the same partitions: each moved in time to after the one before, under settings of its own. */
function chained(logs: readonly Line[][], partitions: number, endMs: number): Line[] {
  const moved: Line[] = []
  let nextMs = GENERATED_MS
  for (const [index, log] of logs.entries()) {
    const firstMs = log.reduce((least, { timestamp }) => Math.min(least, timestamp), Number.POSITIVE_INFINITY)
    const shiftMs = Math.ceil((nextMs + APART_MS - firstMs) / 300_000) * 300_000
    const delayMs = [45_000, 0, 120_000][index % 3] ?? 0
    const latenessMs = [0, 0, 300_000, 90_001][index % 4] ?? 0
    for (let partition = 0; partition < partitions; partition += 1)
      moved.push({ partition, timestamp: firstMs + shiftMs, value: encodeSettings(firstMs + shiftMs, delayMs, latenessMs) })
    for (const { partition, timestamp, value } of log) {
      nextMs = Math.max(nextMs, timestamp + shiftMs)
      moved.push({ partition, timestamp: timestamp + shiftMs, value: value === null ? null : shiftText(value, shiftMs) })
    }
  }
  if (nextMs - GENERATED_MS > KEPT_MS) throw new Error('a chain of random logs is longer than the broker keeps records: fewer logs')
  // The broker refuses what is in the future.
  const backMs = Math.floor((endMs - nextMs - 3 * 3_600_000) / 300_000) * 300_000
  const all = moved.map((line) => ({
    ...line,
    timestamp: line.timestamp + backMs,
    value: line.value === null ? null : shiftText(line.value, backMs),
  }))
  const lastMs = nextMs + backMs + 7_200_000
  for (let partition = 0; partition < partitions; partition += 1) all.push({ partition, timestamp: lastMs, value: encodeHeartbeat(lastMs) })
  return all
}

/** Every time in ms in a text, moved; those far from the logs' own are borders of what is valid, and stay. */
function shiftText(text: string, ms: number): string {
  return text.replace(/\d{13}/g, (digits) => (Math.abs(Number(digits) - GENERATED_MS) > FAR_MS ? digits : String(Number(digits) + ms)))
}

/** What our own core makes of lines, partition by partition. */
function replay(job: 'positions' | 'stock', lines: readonly Line[]): Row[] {
  const host =
    job === 'positions'
      ? createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, livePoints: true })
      : createStockHost(DEFAULT_STOCK_SETTINGS, STOCK_SOURCES)
  const offsets = new Map<number, number>()
  const rows: Row[] = []
  for (const { partition, timestamp, value } of lines) {
    const offset = offsets.get(partition) ?? 0
    offsets.set(partition, offset + 1)
    host.onRecord(partition, offset, timestamp, null, value, value === null ? 0 : Buffer.byteLength(value), true)
    for (const emission of host.drain()) rows.push(emission)
  }
  return rows
}

function recordedDay(endMs: number): Line[] {
  const lines: Line[] = []
  let lastMs = 0
  let laterMs = Number.NaN
  for (const text of readFileSync(DAY_FILE, 'utf8').split('\n')) {
    if (text === '') continue
    const fix = JSON.parse(text) as { van: string; lat: number; lon: number; event_ms: number }
    const { van, lat, lon } = fix
    // The newest day that is over by now.
    if (Number.isNaN(laterMs)) laterMs = Math.floor((endMs - fix.event_ms) / DAY_MS - 2) * DAY_MS
    const event_ms = fix.event_ms + laterMs
    const value = JSON.stringify({ repartidor: van, lat, lon, data_ms: event_ms })
    const partition = [...van].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % DAY_PARTITIONS
    lines.push({ partition, timestamp: event_ms + 1_000, value })
    lastMs = event_ms
  }
  for (let partition = 0; partition < DAY_PARTITIONS; partition += 1)
    lines.push({ partition, timestamp: lastMs + 3_600_000, value: encodeHeartbeat(lastMs + 3_600_000) })
  return lines
}

/** A case of check.py in partitions of its own from `first` on; its options as a settings record before everything else. */
function listedCase({ name, words, log, want }: Listed, first: number, laterMs: number): { lines: Line[]; one: Case } {
  const lines = parse(log).map(({ partition, timestamp, value }) => ({
    partition: partition + first,
    timestamp: timestamp + laterMs,
    value: value === null ? null : shiftText(value, laterMs),
  }))
  const partitions = [...new Set(lines.map(({ partition }) => partition))]
  const option = (word: string) => (words.includes(word) ? Number(words[words.indexOf(word) + 1]) : undefined)
  const [delayMs, latenessMs] = [option('--delay'), option('--allowed-lateness')]
  const isGiven = delayMs !== undefined || latenessMs !== undefined
  const settings = isGiven
    ? partitions.map((partition) => ({
        partition,
        timestamp: lines[0]?.timestamp ?? 0,
        value: encodeSettings(lines[0]?.timestamp ?? 0, delayMs ?? DEFAULT_POSITIONS_SETTINGS.delayMs, latenessMs ?? 0),
      }))
    : []
  const rows = want.map(({ topic, key, value, at }) => ({
    output: topic,
    key: key === null ? null : shiftText(key, laterMs),
    value: shiftText(JSON.stringify(value), laterMs),
    partition: at.partition + first,
    offset: at.offset + (isGiven ? 1 : 0),
  }))
  return { lines: [...settings, ...lines], one: { name, partitions, want: rows, live: words.includes('--live-points') } }
}

export interface PlanOptions {
  /** Random logs, two thirds of them of positions. */
  readonly logs: number
  /** Seeds of check.py, from 1 on, beside its vectors. */
  readonly seeds: number
  readonly day: boolean
  readonly nowMs: number
}

/** Everything that a host is given, and what must come out of it. */
export function planOf({ logs, seeds, day, nowMs }: PlanOptions): Plan {
  const listed = python([`${ORACLE}/check.py`, '--list', '--seeds', `1-${seeds}`, '--job', 'positions']) as Listed[]
  const lines: Line[] = []
  const cases: Case[] = []
  let next = 0
  // Cases of check.py begin where generated logs do, one a week before, and last for two hours.
  const laterMs = Math.floor((nowMs - GENERATED_MS - 4 * 3_600_000) / 300_000) * 300_000
  for (const one of listed.filter(({ words }) => words[1] === 'live')) {
    const made = listedCase(one, next, laterMs)
    lines.push(...made.lines)
    cases.push(made.one)
    next = Math.max(next, ...made.one.partitions.map((partition) => partition + 1))
  }
  const place = (name: string, own: readonly Line[], partitions: number) => {
    const placed = own.map((line) => ({ ...line, partition: line.partition + next }))
    lines.push(...placed)
    cases.push({ name, partitions: [...Array(partitions).keys()].map((p) => p + next), want: replay('positions', placed), live: true })
    next += partitions
  }
  const ofStock = Math.floor(logs / 3)
  const random = randomLogs('positions', logs - ofStock, CHAIN)
  for (let at = 0; at < random.length; at += LOGS_IN_A_CHAIN) {
    const some = random.slice(at, at + LOGS_IN_A_CHAIN)
    place(`random logs ${at + 1} to ${at + some.length}`, chained(some, CHAIN, nowMs), CHAIN)
  }
  if (day && existsSync(DAY_FILE)) place('a recorded day of 140 vehicles', recordedDay(nowMs), DAY_PARTITIONS)
  else console.log(`skipped: the recorded day${day ? ', which is not on this machine' : ''}`)
  const stock = chained(randomLogs('stock', ofStock, STOCK_SOURCES), STOCK_SOURCES, nowMs)
  return {
    records: interleave(
      lines.map((line) => record('positions', line)),
      stock.map((line) => record('stock', line)),
    ),
    positionPartitions: next,
    cases,
    stockWant: replay('stock', stock),
    stockLogs: ofStock,
  }
}

/** Partition by partition in order, all partitions side by side. */
function interleave(positions: readonly OutRecord[], stock: readonly OutRecord[]): OutRecord[] {
  const queues = new Map<string, OutRecord[]>()
  for (const one of [...positions, ...stock]) {
    const name = `${one.topic} ${one.partition}`
    const queue = queues.get(name)
    if (queue === undefined) queues.set(name, [one])
    else queue.push(one)
  }
  const placed = [...queues.values()].flatMap((queue) => queue.map((one, index) => ({ one, at: index / queue.length })))
  return placed.sort((a, b) => a.at - b.at).map(({ one }) => one)
}
