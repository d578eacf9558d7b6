import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'
import type { Outcome } from './partition-task.ts'

/** Wire reasons of the late side output and of the dead letters, by outcome. */
const LATE: Partial<Record<Outcome, string>> = { late: 'tard', partlyLate: 'parcial' }
const DEAD: Partial<Record<Outcome, string>> = { invalid: 'invalid', future: 'futur', ancient: 'antic' }

export type PositionsMetrics = ReturnType<typeof positionsMetrics>

/** Instruments of the positions role. */
export function positionsMetrics(registry: Registry) {
  const registers = [registry]
  const partitionGauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['partition'], registers })
  const refreshers: (() => void)[] = []
  /** A gauge that grows by itself while nothing happens: refreshed when it is asked for. */
  const agingGauge = (name: string, help: string) => {
    const collect = () => {
      for (const refresh of refreshers) refresh()
    }
    return new Gauge({ name, help, labelNames: ['partition'], registers, collect })
  }
  const records = new Counter({ name: 'km0_stream_records_total', help: 'Records read, by outcome', labelNames: ['outcome'], registers })
  const late = new Counter({ name: 'km0_stream_late_total', help: 'Points reported late, by reason', labelNames: ['reason'], registers })
  const dead = new Counter({ name: 'km0_stream_dead_letters_total', help: 'Records refused, by reason', labelNames: ['reason'], registers })
  for (const reason of Object.values(LATE)) late.inc({ reason }, 0)
  for (const reason of Object.values(DEAD)) dead.inc({ reason }, 0)
  return {
    results: new Counter({ name: 'km0_stream_results_total', help: 'Results written, by topic', labelNames: ['topic'], registers }),
    lagRecords: partitionGauge('km0_stream_lag_records', 'Records of the log that are not applied yet'),
    lagSeconds: agingGauge('km0_stream_lag_seconds', 'Present time less the newest event time applied'),
    watermarkSeconds: partitionGauge('km0_stream_watermark_seconds', 'Watermark, seconds since 1970'),
    watermarkLagSeconds: agingGauge('km0_stream_watermark_lag_seconds', 'Present time less the watermark'),
    keys: partitionGauge('km0_stream_keys', 'Vans that the state of a partition holds'),
    fenced: new Counter({
      name: 'km0_stream_fenced_total',
      help: 'Transactions refused because somebody else has taken the partition over',
      registers,
    }),
    checkpointBytes: partitionGauge('km0_stream_checkpoint_bytes', 'Size of the newest checkpoint'),
    checkpointAgeSeconds: agingGauge('km0_stream_checkpoint_age_seconds', 'Time since the newest checkpoint of this process'),
    checkpointIntervalSeconds: new Gauge({
      name: 'km0_stream_checkpoint_interval_seconds',
      help: 'Time between two checkpoints of a partition',
      registers,
    }),
    checkpointsKept: new Gauge({ name: 'km0_stream_checkpoints_kept', help: 'Newest checkpoints of a partition that are kept', registers }),
    checkpointSeconds: new Histogram({
      name: 'km0_stream_checkpoint_duration_seconds',
      help: 'From taking a snapshot to its offset being committed',
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    checkpointFailures: new Counter({
      name: 'km0_stream_checkpoint_failures_total',
      help: 'Checkpoints that could not be stored',
      registers,
    }),
    damagedCheckpoints: new Counter({
      name: 'km0_stream_checkpoints_damaged_total',
      help: 'Stored checkpoints that were passed over',
      registers,
    }),
    holes: new Counter({
      name: 'km0_stream_hole_records_total',
      help: 'Records that retention deleted before they were read',
      labelNames: ['partition'],
      registers,
    }),
    restores: new Counter({
      name: 'km0_stream_restores_total',
      help: 'Partitions taken over, by where their state came from',
      labelNames: ['from'],
      registers,
    }),
    /** Has `refresh` called before the lag in seconds and the age of checkpoints are read. */
    beforeScrape(refresh: () => void): void {
      refreshers.push(refresh)
    },
    count(outcomes: ReadonlyMap<Outcome, number>): void {
      for (const [outcome, n] of outcomes) {
        if (n === 0) continue
        records.inc({ outcome }, n)
        const lateReason = LATE[outcome]
        if (lateReason !== undefined) late.inc({ reason: lateReason }, n)
        const deadReason = DEAD[outcome]
        if (deadReason !== undefined) dead.inc({ reason: deadReason }, n)
      }
    },
  }
}
