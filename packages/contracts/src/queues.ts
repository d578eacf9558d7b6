/** BullMQ queues. The only arrow from the panel back into the data path is a command in one of them. */
export const QUEUES = {
  /** Batch runs that recompute a range of results. */
  backfills: 'backfills',
  /** The clock of nightly runs. */
  nightly: 'nightly',
  /** Events and reports on their way to whoever has asked for them. */
  deliveries: 'deliveries',
  /** The clock of the job that deletes what is too old. */
  retention: 'retention',
} as const
