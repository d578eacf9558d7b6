import { lakeEnvironment } from '@km0/lake'
import { z } from 'zod'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)

/** Settings of the role `lake`, beside those of the stream and of the lake itself. */
export const lakeRoleEnvironment = lakeEnvironment.extend({
  /** What came is stored after so long at the latest … */
  KM0_LAKE_BATCH_MS: positive(5_000),
  /** … or when there are so many rows. Also the most that waits in memory while the lake is away. */
  KM0_LAKE_BATCH_ROWS: positive(20_000),
  KM0_LAKE_MAINTENANCE_MS: positive(600_000),
  /** How far back the lake can be read as it was. Never near the time that an append takes: fencing needs the snapshots of that time. */
  KM0_LAKE_KEEP_SNAPSHOTS_MS: z.coerce.number().int().min(600_000).default(86_400_000),
  /** Files that nobody needs any more are deleted so long after. Longer than any append or read takes. */
  KM0_LAKE_KEEP_FILES_MS: positive(3_600_000),
  /** Event days that are kept; 0 keeps all. */
  KM0_LAKE_RETENTION_DAYS: z.coerce.number().int().min(0).default(0),
  /** A hole in the log is shown as a fault for so long after it was found. */
  KM0_LAKE_HOLE_ALARM_MS: positive(86_400_000),
})

export type LakeRoleSettings = z.infer<typeof lakeRoleEnvironment>
