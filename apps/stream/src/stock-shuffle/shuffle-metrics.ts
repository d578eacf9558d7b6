import { RECORD_FLAGS } from '@km0/contracts'
import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'

const OUTCOMES = ['accepted', 'invalid', 'future', 'ancient', 'heartbeat', 'settings', 'skipped'] as const
const REFUSED: Partial<Record<(typeof OUTCOMES)[number], string>> = { invalid: 'invalid', future: 'futur', ancient: 'antic' }

/** What the shuffle writes of its own accord. */
export type OwnRecord = 'mark' | 'heartbeat' | 'settings'

export type ShuffleMetrics = ReturnType<typeof shuffleMetrics>

/** Instruments of the stock-shuffle role. */
export function shuffleMetrics(registry: Registry) {
  const registers = [registry]
  const records = new Counter({
    name: 'km0_stock_shuffle_records_total',
    help: 'Records of the source read, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const refused = new Counter({
    name: 'km0_stock_shuffle_refused_total',
    help: 'Records sent to the dead letters, by reason',
    labelNames: ['reason'],
    registers,
  })
  for (const outcome of OUTCOMES) records.inc({ outcome }, 0)
  for (const reason of Object.values(REFUSED)) refused.inc({ reason }, 0)
  const partitionGauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['partition'], registers })
  return {
    own: new Counter({
      name: 'km0_stock_shuffle_own_total',
      help: 'Marks, heartbeats and settings written, each to every target partition',
      labelNames: ['kind'],
      registers,
    }),
    failures: new Counter({
      name: 'km0_stock_shuffle_failures_total',
      help: 'Times that the work on a source partition was given up and taken over anew, by cause',
      labelNames: ['cause'],
      registers,
    }),
    holes: new Counter({
      name: 'km0_stock_shuffle_hole_records_total',
      help: 'Records of the source deleted by retention before they were read',
      labelNames: ['partition'],
      registers,
    }),
    lostStates: new Counter({
      name: 'km0_stock_shuffle_lost_states_total',
      help: 'Source partitions taken over with an offset but without the state beside it',
      registers,
    }),
    transactionSeconds: new Histogram({
      name: 'km0_stock_shuffle_transaction_duration_seconds',
      help: 'Time of one transaction',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    sources: new Gauge({ name: 'km0_stock_shuffle_source_partitions', help: 'Partitions of the source topic', registers }),
    lagRecords: partitionGauge('km0_stock_shuffle_lag_records', 'Records of the source that are not shuffled yet'),
    watermarkSeconds: partitionGauge('km0_stock_shuffle_watermark_seconds', 'Watermark of a source partition, seconds since 1970'),
    /** Counts what became of records; `flags` are RECORD_FLAGS, one number a record. */
    count(flags: readonly number[]): void {
      for (const outcome of OUTCOMES) {
        const bit = RECORD_FLAGS[outcome]
        const many = flags.reduce((sum, flag) => ((flag & bit) === 0 ? sum : sum + 1), 0)
        if (many === 0) continue
        records.inc({ outcome }, many)
        const reason = REFUSED[outcome]
        if (reason !== undefined) refused.inc({ reason }, many)
      }
    },
  }
}
