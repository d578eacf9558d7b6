import { TOPICS } from '@km0/contracts'
import type { PipelineSettings } from '@km0/contracts/pipeline-settings'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import {
  createPositionsHost,
  linesOf,
  readEnvelope,
  repartitionTasks,
  type SnapshotIdentity,
  STOCK_WINDOWS_PIPELINE,
  StockWindowsTask,
  splitTask,
} from '@km0/pipelines'
import { loadSettings } from '@km0/runtime'
import { CommandError } from './command.ts'
import { pipelineRules } from './pipeline-rules.ts'

/** A pipeline whose states are stored, as far as savepoints need to know it. */
export interface SavepointPipeline {
  readonly pipeline: string
  /** What is to be stopped before a restore. */
  readonly role: string
  readonly group: string
  readonly topic: string
  /** Topics that need as many partitions as `topic`, as a result goes to the partition of its source. */
  readonly results: readonly string[]
  /** Topic that tells how far each partition is; null where partitions do not change. */
  readonly marks: string | null
  /** Records at the end of a partition that no program reads: the mark that ends a transaction. */
  readonly unreadAtEnd: number
  readonly version: number
  /** Whose state a stored text is. */
  identityOf(state: string): SnapshotIdentity
  /** Throws an Error that says why the state cannot go on with the settings in force. */
  tryState(state: string): void
  /** States for another number of partitions; null when that cannot be. */
  readonly repartition: ((states: readonly string[], partitions: number, partitionOf: (key: string) => number) => readonly string[]) | null
}

/** The pipeline that `--pipeline` names. Throws CommandError. */
export function savepointPipeline(name: string): SavepointPipeline {
  const settings = loadSettings('km0', process.env, (text, file) => readPipelineSettings(text, file, process.env))
  if (name === 'positions') return positions(settings)
  if (name === STOCK_WINDOWS_PIPELINE) return stockWindows(settings)
  throw new CommandError(`--pipeline ${name}: it is positions or ${STOCK_WINDOWS_PIPELINE}`)
}

function positions({ positions: { version } }: PipelineSettings): SavepointPipeline {
  return {
    pipeline: 'positions',
    role: 'positions',
    group: 'km0-positions',
    topic: TOPICS.positions.name,
    results: [TOPICS.panel.name],
    marks: TOPICS.marks.name,
    unreadAtEnd: 0,
    version,
    identityOf: (state) => readEnvelope(firstLine(splitTask(state).snapshot)),
    tryState: (state) => createPositionsHost(pipelineRules('km0')).restore(splitTask(state).snapshot),
    repartition: repartitionTasks,
  }
}

function stockWindows({ stock }: PipelineSettings): SavepointPipeline {
  const { version, delayMs: _delay, allowedLatenessMs: _allowed, ...rules } = stock
  return {
    pipeline: STOCK_WINDOWS_PIPELINE,
    role: 'stock-windows',
    group: 'km0-stock-windows',
    topic: TOPICS.stockShuffled.name,
    results: [TOPICS.stockAlerts.name, TOPICS.stockLate.name, TOPICS.stockLive.name, TOPICS.stockEpisodes.name],
    marks: null,
    unreadAtEnd: 1,
    version,
    identityOf: (state) => readEnvelope(firstLine(state)),
    tryState: (state) => new StockWindowsTask(rules).restore(state),
    repartition: null,
  }
}

function firstLine(text: string): string {
  for (const line of linesOf(text)) return line
  return ''
}
