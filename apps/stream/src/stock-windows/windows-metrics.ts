import { RECORD_FLAGS } from '@km0/contracts'
import { SHUFFLED_FLAGS } from '@km0/pipelines'
import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'

const OUTCOMES = {
  accepted: RECORD_FLAGS.accepted,
  late: RECORD_FLAGS.late,
  heartbeat: RECORD_FLAGS.heartbeat,
  settings: RECORD_FLAGS.settings,
  invalid: RECORD_FLAGS.invalid,
  future: RECORD_FLAGS.future,
  ancient: RECORD_FLAGS.ancient,
  seen: SHUFFLED_FLAGS.seen,
} as const

export type WindowsMetrics = ReturnType<typeof windowsMetrics>

/** Instruments of the stock-windows role. */
export function windowsMetrics(registry: Registry) {
  const registers = [registry]
  const partitionGauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['partition'], registers })
  const records = new Counter({
    name: 'km0_stock_windows_records_total',
    help: 'Shuffled records read, by outcome; seen: dropped, as its source offset had been seen',
    labelNames: ['outcome'],
    registers,
  })
  const late = new Counter({ name: 'km0_stock_late_total', help: 'Stock events late by their own source partition', registers })
  const lateWhileOpen = new Counter({
    name: 'km0_stock_late_while_open_total',
    help: 'Of those, the ones whose window was still open by the minimum over the source partitions',
    registers,
  })
  for (const outcome of Object.keys(OUTCOMES)) records.inc({ outcome }, 0)
  return {
    results: new Counter({ name: 'km0_stock_results_total', help: 'Results written, by topic', labelNames: ['topic'], registers }),
    foreign: new Counter({
      name: 'km0_stock_windows_foreign_total',
      help: 'Records of the internal topic that are not of the shuffle',
      registers,
    }),
    restores: new Counter({ name: 'km0_stock_windows_restores_total', help: 'Partitions taken over', labelNames: ['from'], registers }),
    holes: new Counter({
      name: 'km0_stock_windows_hole_records_total',
      help: 'Shuffled records deleted by retention before they were read, control records included',
      labelNames: ['partition'],
      registers,
    }),
    openEpisodes: partitionGauge('km0_stock_open_episodes', 'Episodes of low stock that last'),
    lagRecords: partitionGauge('km0_stock_windows_lag_records', 'Shuffled records that are not applied yet'),
    watermarkSeconds: partitionGauge('km0_stock_windows_watermark_seconds', 'Minimum over the source partitions, seconds since 1970'),
    checkpointBytes: partitionGauge('km0_stock_checkpoint_bytes', 'Size of the newest checkpoint'),
    checkpointAgeSeconds: partitionGauge('km0_stock_checkpoint_age_seconds', 'Time since the newest checkpoint of this process'),
    checkpointIntervalSeconds: new Gauge({
      name: 'km0_stock_checkpoint_interval_seconds',
      help: 'Time between two checkpoints of a partition',
      registers,
    }),
    checkpointsKept: new Gauge({ name: 'km0_stock_checkpoints_kept', help: 'Newest checkpoints of a partition that are kept', registers }),
    checkpointSeconds: new Histogram({
      name: 'km0_stock_checkpoint_duration_seconds',
      help: 'From taking a snapshot to its offset being committed',
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    checkpointFailures: new Counter({
      name: 'km0_stock_checkpoint_failures_total',
      help: 'Checkpoints that could not be stored',
      registers,
    }),
    damagedCheckpoints: new Counter({
      name: 'km0_stock_checkpoints_damaged_total',
      help: 'Stored checkpoints that were passed over',
      registers,
    }),
    /** Counts what became of records; `flags` are RECORD_FLAGS and SHUFFLED_FLAGS, one number a record. */
    count(flags: readonly number[]): void {
      const many = (bit: number) => flags.reduce((sum, flag) => ((flag & bit) === 0 ? sum : sum + 1), 0)
      for (const [outcome, bit] of Object.entries(OUTCOMES)) {
        const found = many(bit)
        if (found > 0) records.inc({ outcome }, found)
      }
      late.inc(many(RECORD_FLAGS.late))
      lateWhileOpen.inc(many(SHUFFLED_FLAGS.lateWhileOpen))
    },
  }
}
