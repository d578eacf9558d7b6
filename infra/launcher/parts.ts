import { join } from 'node:path'
import type { DataBudget } from './budget.ts'
import type { Ordered } from './order.ts'

/** A program of ours that runs as a child process. One row of the table below. */
export interface Part extends Ordered {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly port: number
  /** Answers 200 as soon as the part works. */
  readonly healthUrl: string
  /** Ending with code 0 is no crash. */
  readonly mayEnd: boolean
  readonly stopTimeoutMs: number
}

export interface Addresses {
  readonly kafkaBrokers: string
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly mqttUrl: string
}

export const ENGINE_NAMES = ['node', 'kafka-streams', 'flink'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

/** The engine of KM0_ENGINE. Throws when there is none of that name. */
export function parseEngine(text: string | undefined): EngineName {
  const engine = ENGINE_NAMES.find((name) => name === (text || 'node'))
  if (engine === undefined) throw new Error(`KM0_ENGINE is one of ${ENGINE_NAMES.join(', ')}, not ${text}`)
  return engine
}

export interface PartsOptions {
  readonly root: string
  /** Versioned folder of data. */
  readonly dataDir: string
  readonly addresses: Addresses
  readonly fleet: 'none' | 'demo' | { readonly play: string; readonly speed: string }
  readonly panelPort: number
  /** Days that rows stay in PostgreSQL and records in the lake. */
  readonly retentionDays: DataBudget['retentionDays']
  /** What the embedded broker keeps for the bridge while it is away; absent where another broker is used. */
  readonly brokerQueue?: { readonly messages: number; readonly bytes: number }
  /** MiB of heap of each role of the stream: from there on it collects rather than grows. */
  readonly streamHeapMib: number
  /** What hosts the windowing: our own roles, or another engine (docs/engines.md). */
  readonly engine: EngineName
  /** A free port for each other part, by name. */
  readonly portOf: (name: string) => number
}

/** The demo fleet lives so much of its past in its first half minute, so that the lists of the panel are full. */
const CATCH_UP_MINUTES = 30
/** One old file of this size is kept beside the one in use. */
const FLEET_JOURNAL_MIB = 32
/** A part's own limit for an orderly end; the launcher kills it a little later. */
const BRIDGE_STOP_MS = 3_000

/** Names of all parts, for giving out ports. */
export const PART_NAMES = [
  'bridge',
  'stream-positions',
  'stream-serving',
  'stream-lake',
  'stream-stock-shuffle',
  'stream-stock-windows',
  'batch',
  'dashboard',
  'fleet',
  'stock',
] as const

/**
 * The table of parts. Stop: first what makes input, then bridge, stream, panel and batch, each having the chance to finish what the one before sent.
 * With a fleet of ours the fleet owns the clock, since it lives its last half hour first; without one the machine does.
 */
export function partsTable(options: PartsOptions): Part[] {
  const { fleet } = options
  const common = {
    KAFKA_BROKERS: options.addresses.kafkaBrokers,
    DATABASE_URL: options.addresses.databaseUrl,
    REDIS_URL: options.addresses.redisUrl,
    MQTT_URL: options.addresses.mqttUrl,
    KM0_CLOCK: fleet === 'none' ? 'machine' : 'play',
    KM0_CHECKPOINT_DIR: join(options.dataDir, 'checkpoints'),
  }
  const row: Row = (name, bundle, args, rest, environment = {}) => {
    const port = name === 'dashboard' ? options.panelPort : options.portOf(name)
    return {
      name,
      args: [
        ...(bundle === STREAM ? [`--max-old-space-size=${options.streamHeapMib}`, YOUNG_HEAP] : []),
        '--enable-source-maps',
        join(options.root, bundle),
        ...args,
      ],
      environment: { ...common, KM0_HTTP_PORT: String(port), KM0_DATA_DIR: join(options.dataDir, name), ...environment },
      port,
      healthUrl: `http://127.0.0.1:${port}/health`,
      dependsOn: [],
      mayEnd: false,
      stopTimeoutMs: 4_000,
      ...rest,
    }
  }
  const others = [
    row('bridge', 'apps/bridge/dist/main.js', [], { stopStage: 2 }, bridgeSettings(options)),
    ...windowing(options, row),
    row(
      'stream-serving',
      STREAM,
      ['--role', 'serving'],
      { stopStage: 3 },
      {
        KM0_RESULT_RETENTION_DAYS: String(options.retentionDays.results),
        KM0_TRACK_RETENTION_DAYS: String(options.retentionDays.tracks),
      },
    ),
    row(
      'stream-lake',
      STREAM,
      ['--role', 'lake'],
      { stopStage: 3 },
      { KM0_LAKE_DATA: join(options.dataDir, 'lake'), KM0_LAKE_RETENTION_DAYS: String(options.retentionDays.lake) },
    ),
    row(
      'batch',
      'apps/batch/dist/main.js',
      [],
      { stopStage: 5, stopTimeoutMs: 2_000 },
      {
        // Services cannot watch their own disks.
        KM0_DISK_WATCH: ['kafka', 'postgres'].map((name) => `${name}=${join(options.dataDir, name)}`).join(','),
        ...(fleet === 'none' ? {} : { KM0_LEDGER_JOURNALS: journalPath(join(options.dataDir, 'fleet')) }),
      },
    ),
  ]
  const parts = [
    ...others,
    row(
      'dashboard',
      'apps/dashboard/dist/main.js',
      [],
      { stopStage: 4, stopTimeoutMs: 2_000, dependsOn: ['stream-serving'] },
      {
        // Its health is the platform's.
        KM0_PROGRAMS: others.map(({ name, healthUrl }) => `${name}=${healthUrl}`).join(','),
        KM0_SIGN_IN_LINK_FILE: signInLinkFile(options.dataDir),
      },
    ),
  ]
  if (fleet === 'none') return parts
  const folder = join(options.dataDir, 'fleet')
  const words = [...(fleet === 'demo' ? demoWords(folder) : ['--play', fleet.play, '--speed', fleet.speed]), ...journalWords(folder)]
  const everyOther = parts.map((part) => part.name)
  const input = { stopStage: 1, stopTimeoutMs: 2_000, dependsOn: everyOther }
  const player = row('fleet', 'packages/fleet/dist/main.js', words, { ...input, mayEnd: fleet !== 'demo' })
  // A recording is of vans alone.
  if (fleet !== 'demo') return [...parts, player]
  return [...parts, player, row('stock', 'packages/fleet/dist/stock.js', STOCK_WORDS, input)]
}

type Row = (
  name: string,
  bundle: string,
  args: readonly string[],
  rest: Partial<Part> & Pick<Part, 'stopStage'>,
  environment?: Readonly<Record<string, string>>,
) => Part

const STREAM = 'apps/stream/dist/main.js'

/** The records of a fetch outlive a young heap of Node's default, 16 MiB, and would each be copied: a fifth of the job's CPU (docs/benchmarks.md). */
export const YOUNG_HEAP = '--max-semi-space-size=32'

/** What computes results: under the same name whatever hosts it, since the panel asks it how it is. */
function windowing({ engine, dataDir }: PartsOptions, row: Row): Part[] {
  const own = (role: string) => row(`stream-${role}`, STREAM, ['--role', role], { stopStage: 3 })
  if (engine === 'node') return [own('positions'), own('stock-shuffle'), own('stock-windows')]
  const words = ['run', engine, '--folder', join(dataDir, `engine-${engine}`)]
  return [row('stream-positions', 'infra/dist/engine.js', words, { stopStage: 3 })]
}

/** Where the panel leaves the link of the first administrator, until they have come in. */
export const signInLinkFile = (dataDir: string) => join(dataDir, 'dashboard', 'sign-in-link')

function bridgeSettings({ brokerQueue }: PartsOptions): Readonly<Record<string, string>> {
  const limits = brokerQueue && {
    KM0_BROKER_QUEUE_MESSAGES: String(brokerQueue.messages),
    KM0_BROKER_QUEUE_BYTES: String(brokerQueue.bytes),
  }
  return { KM0_BRIDGE_STOP_MS: String(BRIDGE_STOP_MS), ...limits }
}

/**
 * The demo's ordering service: fewer shelves than a real one, so that a laptop stays quiet, with a batch withdrawn at once and a campaign soon. It
 * begins now: in a log whose clock stands at the present, half an hour of the past would only be late.
 */
const STOCK_WORDS = ['--products', '30', '--per-second', '20', '--recall', '6@20', '--campaign', '1200@120']

/** Whatever chance brings: a dispatcher who opens the page finds some vans silent, for different times, one of them in a dead zone. */
const DEMO_FAULTS = [
  'phone-off:furgoneta-95:7200@120',
  'phone-off:furgoneta-37:5400@720',
  'phone-off:furgoneta-124:4500@1080',
  'tunnel:furgoneta-66:480@1440',
  'phone-off:furgoneta-8:3600@1500',
]

/** What was published, for the ledger. */
const journalWords = (folder: string) => ['--journal', journalPath(folder), '--journal-max-mib', String(FLEET_JOURNAL_MIB)]
const journalPath = (folder: string) => join(folder, 'journal.jsonl')

/** The demo lives its last half hour first and remembers its clock, so that a second start fills from where the first one ended. */
function demoWords(folder: string): string[] {
  return [
    ...['--catch-up-minutes', String(CATCH_UP_MINUTES)],
    ...['--state', join(folder, 'clock.json')],
    ...DEMO_FAULTS.flatMap((fault) => ['--fault', fault]),
  ]
}
