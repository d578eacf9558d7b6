import {
  addCounts,
  CHECKPOINTS_LOCAL,
  coveredShare,
  type FeedView,
  type LatenessView,
  type LedgerRunView,
  latenessQuantile,
  type OperationsView,
  type OtherDelay,
  type PartitionFeed,
  type PartitionView,
  type ServiceStatus,
  type ServiceView,
} from '@km0/contracts'
import type { StoredLatenessHour } from '@km0/serving'
import type { SourceHealth } from '../panel-source.ts'
import { latenessSinceStart } from './lateness-since-start.ts'
import type { ProgramFacts, Sample } from './program-facts.ts'
import type { ProgressBook } from './progress-book.ts'

export interface OperationsFacts {
  readonly nowMs: number
  readonly platformNowMs: number
  /** Of a clock that only goes on. */
  readonly atMs: number
  readonly programs: readonly ProgramFacts[]
  /** What the panel stands on. */
  readonly own: Readonly<Record<string, SourceHealth>>
  readonly feed: FeedView
  readonly nextOffsets: ReadonlyMap<number, number>
  readonly endOffsets: ReadonlyMap<number, number> | null
  readonly book: Pick<ProgressBook, 'rate' | 'drift'>
  readonly hours: readonly StoredLatenessHour[]
  readonly runs: readonly LedgerRunView[]
  /** Share of the points that may come after the delay. */
  readonly targetShare: number
}

const RANK: Readonly<Record<ServiceStatus, number>> = { silent: 3, down: 2, degraded: 1, ok: 0 }
/** Delays that are compared with the one that is set. */
const DELAYS_MS = [10_000, 15_000, 20_000, 30_000, 45_000, 60_000, 90_000, 120_000, 180_000, 240_000]

export function prepareOperations(facts: OperationsFacts): OperationsView {
  const delayMs = delayOf(facts.feed.partitions)
  const ofDay = latenessOf(facts.hours, delayMs, facts.targetShare)
  const sinceStart = ofDay === null ? latenessSinceStart(facts.programs, facts.nowMs) : null
  return {
    nowMs: facts.nowMs,
    platformNowMs: facts.platformNowMs,
    services: [ownService(facts.own), ...facts.programs.map(serviceOf)],
    partitions: facts.feed.partitions.map((partition) => partitionOf(partition, facts)),
    lateness: ofDay ?? (sinceStart === null ? null : latenessOf([sinceStart], delayMs, facts.targetShare, 'start')),
    refused: ofDay === null ? refusedSinceStart(facts.programs) : { since: 'day', rows: refusedOf(facts.hours) },
    ledger: ledgerOf(facts.runs),
    checkpoints: checkpointsOf(facts.programs),
  }
}

function ownService(own: Readonly<Record<string, SourceHealth>>): ServiceView {
  const parts = partsOf(Object.entries(own))
  return {
    name: 'dashboard',
    status: parts[0]?.status ?? 'ok',
    parts,
    memoryBytes: process.memoryUsage.rss(),
    startedAtMs: Math.round(Date.now() - process.uptime() * 1_000),
    backpressure: null,
  }
}

function serviceOf({ name, health, metrics }: ProgramFacts): ServiceView {
  const pressures = [...metrics]
    .filter(([metric]) => metric.endsWith('_backpressure_ratio'))
    .flatMap(([, samples]) => samples.map(({ value }) => value))
  const startS = firstOf(metrics, 'process_start_time_seconds')
  return {
    name,
    status: health?.status ?? 'silent',
    parts: partsOf(Object.entries(health?.parts ?? {})),
    memoryBytes: firstOf(metrics, 'process_resident_memory_bytes'),
    startedAtMs: startS === null ? null : Math.round(startS * 1_000),
    backpressure: pressures.length === 0 ? null : Math.max(...pressures),
  }
}

/** Parts that say something, worst first. */
function partsOf(
  parts: readonly (readonly [string, { readonly status: ServiceStatus; readonly detail?: string | undefined }])[],
): ServiceView['parts'] {
  return parts
    .map(([name, { status, detail }]) => ({ name, status, detail: detail ?? null }))
    .filter(({ status, detail }) => status !== 'ok' || detail !== null)
    .sort((a, b) => RANK[b.status] - RANK[a.status])
}

function partitionOf(feed: PartitionFeed, facts: OperationsFacts): PartitionView {
  const { partition, watermarkMs } = feed
  const nextOffset = facts.nextOffsets.get(partition) ?? 0
  const endOffset = facts.endOffsets?.get(partition)
  const ofPartition = (metric: string) => partitionValue(facts.programs, metric, partition)
  const lagS = ofPartition('km0_stream_lag_seconds')
  const ageS = ofPartition('km0_stream_checkpoint_age_seconds')
  return {
    partition,
    nextOffset,
    lagRecords: endOffset === undefined ? ofPartition('km0_stream_lag_records') : Math.max(0, endOffset - nextOffset),
    lagMs: lagS !== null ? Math.round(lagS * 1_000) : feed.progressMs === null ? null : Math.max(0, facts.platformNowMs - feed.progressMs),
    watermarkMs,
    driftMs: facts.book.drift(partition, facts.platformNowMs, watermarkMs),
    recordsPerS: facts.book.rate(partition, facts.atMs, nextOffset),
    heartbeatMs: feed.newestHeartbeatMs,
    checkpointAgeMs: ageS === null ? null : Math.round(ageS * 1_000),
    checkpointBytes: ofPartition('km0_stream_checkpoint_bytes'),
    backpressure: backpressureOf(facts.programs, partition),
  }
}

/** The delay that is set, as marks tell it: what the watermark is behind the progress. A watermark never goes back, so after a change the greatest is right first. */
function delayOf(partitions: readonly PartitionFeed[]): number | null {
  const delays = partitions.flatMap(({ progressMs, watermarkMs }) =>
    progressMs === null || watermarkMs === null ? [] : [progressMs - watermarkMs],
  )
  return delays.length === 0 ? null : Math.max(...delays)
}

export function latenessOf(
  hours: readonly StoredLatenessHour[],
  delayMs: number | null,
  targetShare: number,
  since: LatenessView['since'] = 'day',
): LatenessView | null {
  const [first, last] = [hours[0], hours.at(-1)]
  const points = hours.reduce((sum, hour) => sum + hour.points, 0)
  if (first === undefined || last === undefined || points === 0) return null
  const counts = hours.reduce<readonly number[]>((sum, hour) => addCounts(sum, hour.counts), [])
  const shareOf = (ms: number): OtherDelay => ({ delayMs: ms, share: coveredShare(counts, ms) ?? 0 })
  const set = delayMs === null ? null : shareOf(delayMs)
  const neededMs = latenessQuantile(counts, 1 - targetShare)
  const below = DELAYS_MS.filter((ms) => delayMs !== null && ms < delayMs).slice(-1)
  const above = DELAYS_MS.filter((ms) => delayMs === null || ms > delayMs).slice(0, 2)
  return {
    since,
    fromMs: first.hourMs,
    toMs: since === 'start' ? last.measuredAtMs : Math.min(last.hourMs + 3_600_000, last.measuredAtMs),
    measuredAtMs: Math.max(...hours.map(({ measuredAtMs }) => measuredAtMs)),
    points,
    p50Ms: latenessQuantile(counts, 0.5),
    p95Ms: latenessQuantile(counts, 0.95),
    p99Ms: latenessQuantile(counts, 0.99),
    p999Ms: latenessQuantile(counts, 0.999),
    set,
    others: [...below, ...above].map(shareOf),
    proposed: { targetShare, delay: neededMs === null ? null : shareOf(Math.ceil(neededMs / 1_000) * 1_000) },
    afterShare: set === null ? null : 1 - set.share,
    partlyLateShare: hours.reduce((sum, hour) => sum + hour.partlyLate, 0) / points,
    lateShare: hours.reduce((sum, hour) => sum + hour.late, 0) / points,
  }
}

type Refused = OperationsView['refused']

function refusedOf(hours: readonly StoredLatenessHour[]): Refused['rows'] {
  return mostFirst(hours.flatMap(({ refused }) => Object.entries(refused)))
}

function refusedSinceStart(programs: readonly ProgramFacts[]): Refused {
  const metrics = ['km0_bridge_refused_total', 'km0_stream_dead_letters_total']
  const samples = programs.flatMap((program) => metrics.flatMap((metric) => program.metrics.get(metric) ?? []))
  return { since: 'start', rows: mostFirst(samples.map(({ labels, value }) => [String(labels.reason ?? ''), value])) }
}

function mostFirst(entries: readonly (readonly [string, number])[]): Refused['rows'] {
  const counts = new Map<string, number>()
  for (const [reason, count] of entries) counts.set(reason, (counts.get(reason) ?? 0) + count)
  return [...counts]
    .map(([reason, count]) => ({ reason, count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason))
}

function ledgerOf(runs: readonly LedgerRunView[]): OperationsView['ledger'] {
  const done = runs.find(({ state }) => state === 'done')
  if (done === undefined || done.unnamed === null || done.endedAtMs === null) return null
  return { unnamed: done.unnamed, fromMs: done.fromMs, toMs: done.toMs, endedAtMs: done.endedAtMs }
}

function checkpointsOf(programs: readonly ProgramFacts[]): OperationsView['checkpoints'] {
  const details = programs.flatMap(({ health }) => health?.parts.checkpoints?.detail ?? [])
  const local = details.find((detail) => detail.includes(CHECKPOINTS_LOCAL))
  const shown = local ?? details[0]
  return shown === undefined ? null : { local: local !== undefined, place: shown.split(`: ${CHECKPOINTS_LOCAL}`)[0] ?? shown }
}

const firstOf = (metrics: ProgramFacts['metrics'], name: string) => metrics.get(name)?.[0]?.value ?? null

/** Of the program that has the partition: after a rebalance another one may still tell of it, and be behind. */
/** Of the program that has a partition: of two that say so, the one with the fresher checkpoint. */
function backpressureOf(programs: readonly ProgramFacts[], partition: number): number | null {
  const ageOf = (program: ProgramFacts) => partitionValue([program], 'km0_stream_checkpoint_age_seconds', partition)
  const [owner] = programs
    .filter((program) => partitionValue([program], 'km0_stream_lag_seconds', partition) !== null)
    .sort((a, b) => (ageOf(a) ?? Number.POSITIVE_INFINITY) - (ageOf(b) ?? Number.POSITIVE_INFINITY))
  return owner === undefined ? null : firstOf(owner.metrics, 'km0_stream_backpressure_ratio')
}

function partitionValue(programs: readonly ProgramFacts[], name: string, partition: number): number | null {
  const isOf = ({ labels }: Sample) => String(labels.partition) === String(partition)
  const values = programs.flatMap(({ metrics }) => (metrics.get(name) ?? []).filter(isOf).map(({ value }) => value))
  return values.length === 0 ? null : Math.min(...values)
}
