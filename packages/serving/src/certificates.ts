import type { Pool } from './pool.ts'

/** What was found when an hour was recomputed from the lake and compared with what was served. */
export interface Certificate {
  readonly hourMs: number
  /** Version of the lake that was read. */
  readonly snapshot: number
  /** Versions of results that are served in the hour, in words; empty when all rows are live. */
  readonly versions: string
  readonly rowsServed: number
  readonly rowsRecomputed: number
  readonly rowsDifferent: number
  /** SHA-256 over keys and values. */
  readonly hashServed: string
  readonly hashRecomputed: string
  /** `explained`: every row that differs is one that a named late point can change. */
  readonly result: 'equal' | 'explained' | 'different'
  readonly detail: string
  readonly atMs: number
}

export async function storeCertificate(pool: Pool, certificate: Certificate): Promise<void> {
  const { hourMs, snapshot, versions, rowsServed, rowsRecomputed, rowsDifferent } = certificate
  const { hashServed, hashRecomputed, result, detail, atMs } = certificate
  await pool.query(
    `insert into km0.certificate (hour_ms, snapshot, versions, rows_served, rows_recomputed, rows_different, hash_served, hash_recomputed,
       result, detail, at_ms) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [hourMs, snapshot, versions, rowsServed, rowsRecomputed, rowsDifferent, hashServed, hashRecomputed, result, detail, atMs],
  )
}

/** The newest certificate of each hour of a range, by hour. */
export function readCertificates(pool: Pool, range: { readonly fromMs: number; readonly toMs: number }): Promise<Certificate[]> {
  return pool.query<Certificate>(
    `select distinct on (hour_ms) hour_ms as "hourMs", snapshot, versions, rows_served as "rowsServed", rows_recomputed as "rowsRecomputed",
       rows_different as "rowsDifferent", hash_served as "hashServed", hash_recomputed as "hashRecomputed", result, detail, at_ms as "atMs"
     from km0.certificate where hour_ms >= $1 and hour_ms < $2 order by hour_ms, id desc`,
    [range.fromMs, range.toMs],
  )
}
