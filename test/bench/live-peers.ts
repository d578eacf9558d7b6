import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@km0/contracts'
import { cacheRoot } from '../../infra/embedded/cache.mjs'
import { peakRssMbOf } from './proc.ts'

const HOME = join(cacheRoot(), 'peers')
const here = (path: string) => fileURLToPath(new URL(`peers/${path}`, import.meta.url))
const MEMORY = '-Xmx4g'

export interface Peer {
  readonly name: string
  readonly version: string
  /** Why its rows are not ours. */
  readonly differs: string
  /** Arguments of java; results of run N go to the topic `OUT.N`. */
  readonly command: (
    brokers: string,
    out: string,
    runs: number,
  ) => { readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> }
}

function kafkaStreams(guarantee: string): Peer {
  const home = join(HOME, 'kafka-streams')
  return {
    name: `kafka-streams-${guarantee}`,
    version: '4.4.0',
    differs: 'no: drops each point behind the watermark, leaves the last windows open',
    command: (brokers, out, runs) => ({
      args: [
        ...[MEMORY, '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', `${home}/classes:${home}/jars/*`, 'KStreams'],
        ...[brokers, TOPICS.positions.name, out, String(runs), String(cpus().length), guarantee, 'in_memory'],
      ],
    }),
  }
}

const FLINK_SQL: Peer = {
  name: 'flink-sql',
  version: '2.3.0',
  differs: 'no: one watermark over all partitions, moved by the wall clock',
  command: (brokers, out, runs) => ({
    env: { FLINK_CONF_DIR: here('flink') },
    args: [
      ...[MEMORY, `@${here('flink/jvm-opens')}`, `-Dlog4j2.configurationFile=${here('flink/log4j2.properties')}`],
      ...[
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
        '-cp',
        `${HOME}/classes:${HOME}/jars/*`,
        'FlinkSql',
        here('flink/live.sql'),
        String(runs),
      ],
      ...[`BOOTSTRAP=${brokers}`, `TOPIC=${TOPICS.positions.name}`, `OUT=${out}`, `THREADS=${cpus().length}`, 'CHECKPOINT=10s'],
    ],
  }),
}

/** Those that `pnpm bench:setup` could get here; null when there are none. */
export function livePeers(): Peer[] {
  return [
    ...(existsSync(join(HOME, 'kafka-streams', 'classes', 'KStreams.class'))
      ? [kafkaStreams('at_least_once'), kafkaStreams('exactly_once_v2')]
      : []),
    ...(existsSync(join(HOME, 'classes', 'FlinkSql.class')) ? [FLINK_SQL] : []),
  ]
}

export interface PeerRuns {
  readonly seconds: readonly number[]
  readonly cpuSeconds: readonly number[]
  readonly peakRssMb: number
}

/** Runs a peer to its end, `runs` times in one process. Rejects with what it printed when it fails. */
export async function runPeer(peer: Peer, brokers: string, out: string, runs: number): Promise<PeerRuns> {
  const { args, env } = peer.command(brokers, out, runs)
  const directory = mkdtempSync(join(tmpdir(), 'km0-bench-peer-'))
  const child = spawn('java', [...args, `DIR=${directory}`].slice(0, peer === FLINK_SQL ? undefined : -1), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  let peakRssMb = 0
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000)
  })
  const timer = setInterval(() => {
    try {
      peakRssMb = peakRssMbOf(child.pid ?? 0)
    } catch {
      // It has ended.
    }
  }, 200)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearInterval(timer)
  rmSync(directory, { recursive: true, force: true })
  if (code !== 0) throw new Error(`${peer.name} ended with ${code}: ${errors}`)
  const lines = [...output.matchAll(/^run \d+ ([\d.]+) ([\d.]+)$/gm)]
  return { seconds: lines.map(([, wall]) => Number(wall)), cpuSeconds: lines.map(([, , cpu]) => Number(cpu)), peakRssMb }
}
