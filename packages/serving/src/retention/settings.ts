import { z } from 'zod'

const days = (fallback: number) => z.coerce.number().int().min(1).max(10_000).default(fallback)

/** For how long rows of PostgreSQL are kept, in days: docs/retention.md. Read by the stream, the job of the batch program and `km0 retention`. */
export const retentionEnvironment = z.object({
  /** Distances, sessions, alerts of stock, late points: live and in versions. Whole days are dropped, by the role `serving`. */
  KM0_RESULT_RETENTION_DAYS: days(30),
  /** Tracks, at most 8,640 rows a van and day, and the newest course of stock. Whole days are dropped, by the role `serving`. */
  KM0_TRACK_RETENTION_DAYS: days(3),
  /** Silences that are over, what was said of them, outages of ours, holes of the log. */
  KM0_SILENCE_RETENTION_DAYS: days(90),
  /** Rows of versions that are not served, counted from their end. */
  KM0_VERSION_RETENTION_DAYS: days(30),
  /** Distance by hour, as it is served: never shorter than results. */
  KM0_TRAVEL_RETENTION_DAYS: days(730),
  /** Who published what, certificates, night runs, reports that were sent. */
  KM0_HISTORY_RETENTION_DAYS: days(400),
  /** Sessions of people and links that have expired, keys that were revoked. */
  KM0_SIGN_IN_RETENTION_DAYS: days(30),
  /** Entries of the audit. */
  KM0_AUDIT_DAYS: days(400),
})

/** How the job does it. */
export const retentionJobEnvironment = retentionEnvironment.extend({
  /** How often the job runs; 0: never. */
  KM0_RETENTION_EVERY_MS: z.coerce.number().int().min(0).default(3_600_000),
  /** Rows that one transaction deletes at most. */
  KM0_RETENTION_BATCH_ROWS: z.coerce.number().int().min(1).max(100_000).default(5_000),
  /** Rest between two batches, so that writers are not held up. */
  KM0_RETENTION_PAUSE_MS: z.coerce.number().int().min(0).max(60_000).default(20),
})

export type RetentionSettings = z.infer<typeof retentionEnvironment>
