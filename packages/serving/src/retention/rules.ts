import type { RetentionSettings } from './settings.ts'

/** Rows of one table that are too old; `$1` is the instant before which they are. A row is named `t`. */
export interface RetentionStep {
  readonly table: string
  readonly where: string
  /** The table has a partition a day. */
  readonly isPartitioned?: true
}

export interface RetentionRule {
  readonly kind: string
  readonly setting: keyof RetentionSettings
  /** What age is counted back from: the newest record of the log, or the clock of the machine. */
  readonly clock: 'log' | 'machine'
  /** In this order. Each batch asks anew, with publications held off: what is served meanwhile is not what is deleted. */
  readonly steps: readonly RetentionStep[]
}

/** Versions that nobody is served, computes or reprocesses, and that ended before. */
export const UNSERVED = `select v.id from km0.version v where v.state <> 'running' and coalesce(v.finished_at_ms, v.requested_at_ms) < $1
  and not exists (select from km0.pointer p where p.version = v.id) and not exists (select from km0.reprocessing r where r.version = v.id)`

const ofUnserved = (table: string): RetentionStep => ({ table, where: `t.version in (${UNSERVED})` })
const partitioned = (step: RetentionStep): RetentionStep => ({ ...step, isPartitioned: true })

/** What the job deletes row by row. Days of results and tracks are dropped whole: `day-partitions.ts`. */
export const RETENTION_RULES: readonly RetentionRule[] = [
  {
    kind: 'silences',
    setting: 'KM0_SILENCE_RETENTION_DAYS',
    clock: 'log',
    steps: [
      { table: 'no_signal_episode', where: 't.ended_ms < $1' },
      {
        table: 'silence_watch',
        where: 't.since_ms < $1 and not exists (select from km0.no_signal_episode e where e.van = t.van and e.since_ms = t.since_ms)',
      },
      // A silence that lasts keeps what was said of it, and the outage that explains it.
      {
        table: 'acknowledgement',
        where: 't.at_ms < $1 and not exists (select from km0.no_signal_episode e where e.van = t.van and e.since_ms = t.since_ms)',
      },
      {
        table: 'outage',
        where: `t.to_ms < $1 and not exists (select from km0.no_signal_episode e where e.source_partition = t.partition
          and t.to_ms > e.since_ms and (e.ended_ms is null or t.from_ms < e.ended_ms))`,
      },
      { table: 'log_hole', where: 't.to_ms < $1' },
      { table: 'mute', where: 'coalesce(t.ended_at_ms, t.until_ms) < $1' },
    ],
  },
  {
    kind: 'versions',
    setting: 'KM0_VERSION_RETENTION_DAYS',
    clock: 'machine',
    // Hours first: a version that lacks one is no longer published, nor rolled back to.
    steps: [
      ofUnserved('version_hour'),
      ofUnserved('version_travel'),
      partitioned(ofUnserved('version_distance')),
      partitioned(ofUnserved('version_session')),
      partitioned(ofUnserved('version_alert')),
    ],
  },
  {
    kind: 'travel',
    setting: 'KM0_TRAVEL_RETENTION_DAYS',
    clock: 'log',
    steps: [
      { table: 'pointer', where: `t.kind = 'travel' and t.hour_ms < $1` },
      { table: 'version_hour', where: `t.kind = 'travel' and t.hour_ms < $1` },
      { table: 'version_travel', where: 't.hour_ms < $1' },
    ],
  },
  {
    kind: 'history',
    setting: 'KM0_HISTORY_RETENTION_DAYS',
    clock: 'machine',
    steps: [
      {
        table: 'publication_move',
        where:
          't.publication in (select p.id from km0.publication p where p.at_ms < $1 and not exists (select from km0.pointer o where o.publication = p.id))',
      },
      {
        table: 'publication',
        where: `t.at_ms < $1 and not exists (select from km0.pointer o where o.publication = t.id)
          and not exists (select from km0.publication_move m where m.publication = t.id)
          and not exists (select from km0.publication u where u.undoes = t.id)`,
      },
      {
        table: 'version',
        where: `t.id in (${UNSERVED}) and not exists (select from km0.publication p where p.version = t.id)
          and not exists (select from km0.publication_move m where m.before = t.id or m.after = t.id)
          and not exists (select from km0.version_hour h where h.version = t.id)`,
      },
      { table: 'certificate', where: 't.at_ms < $1' },
      { table: 'night_run', where: 't.day_end_ms < $1' },
      { table: 'delivery', where: `t.kind = 'report' and t.state <> 'waiting' and t.created_at_ms < $1` },
    ],
  },
  {
    kind: 'sign-ins',
    setting: 'KM0_SIGN_IN_RETENTION_DAYS',
    clock: 'machine',
    steps: [
      { table: 'sign_in_session', where: 't.expires_at < to_timestamp($1 / 1000.0)' },
      { table: 'sign_in_verification', where: 't.expires_at < to_timestamp($1 / 1000.0)' },
      { table: 'access_key', where: 't.revoked_at_ms < $1' },
    ],
  },
  { kind: 'audit', setting: 'KM0_AUDIT_DAYS', clock: 'machine', steps: [{ table: 'audit', where: 't.at_ms < $1' }] },
]
