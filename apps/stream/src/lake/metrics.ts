import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'

export function lakeMetrics(registry: Registry) {
  const registers = [registry]
  return {
    rows: new Counter({ name: 'km0_lake_rows_total', help: 'Rows stored', labelNames: ['table'], registers }),
    retries: new Counter({ name: 'km0_lake_retries_total', help: 'Appends that failed and were tried again', registers }),
    holes: new Counter({
      name: 'km0_lake_hole_records_total',
      help: 'Records that Kafka had deleted before the lake had them, at most',
      labelNames: ['topic'],
      registers,
    }),
    lagRecords: new Gauge({
      name: 'km0_lake_lag_records',
      help: 'Records of the log that the lake has not stored',
      labelNames: ['topic', 'partition'],
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'km0_lake_append_duration_seconds',
      help: 'Time of one transaction',
      buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    maintenanceSeconds: new Histogram({
      name: 'km0_lake_maintenance_duration_seconds',
      help: 'Time of one round of maintenance',
      buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300],
      registers,
    }),
  }
}

export type LakeMetrics = ReturnType<typeof lakeMetrics>
