import type { Pool } from '../pool.ts'

/** What was dropped of one older version. */
export interface DroppedHours {
  readonly version: number
  readonly hours: number
}

const TABLES = [
  ['distance', 'version_distance', 'van'],
  ['session', 'version_session', 'van'],
  ['travel', 'version_travel', 'van'],
  ['alert', 'version_alert', 'market'],
] as const

/**
 * Of each hour that a version holds, keeps the served version and the newest `keep`, and drops the rows of the others. A version that has lost
 * an hour can be published no more.
 */
export async function dropOlderVersions(pool: Pool, version: number, keep: number, atMs: number): Promise<DroppedHours[]> {
  return pool.transaction('begin', async (client) => {
    const { rows } = await client.query<{ version: number; kind: string; owner: string; hours: number[] }>(
      `with ranked as (
         select h.version, h.kind, h.owner, h.hour_ms, row_number() over (partition by h.kind, h.owner, h.hour_ms order by h.version desc) as place
         from km0.version_hour h join km0.version_hour n on n.kind = h.kind and n.owner = h.owner and n.hour_ms = h.hour_ms
         where n.version = $1 and h.version <= $1),
       dropped as (
         delete from km0.version_hour h using ranked r
         where r.place > $2 and h.version = r.version and h.kind = r.kind and h.owner = r.owner and h.hour_ms = r.hour_ms
           and not exists (select from km0.pointer p where p.kind = h.kind and p.owner = h.owner and p.hour_ms = h.hour_ms and p.version = h.version)
         returning h.version, h.kind, h.owner, h.hour_ms)
       select version, kind, owner, array_agg(hour_ms) as hours from dropped group by version, kind, owner`,
      [version, keep],
    )
    for (const [kind, table, owner] of TABLES) {
      const of = rows.filter((row) => row.kind === kind)
      if (of.length === 0) continue
      const flat = of.flatMap((row) => row.hours.map((hour) => [row.version, row.owner, hour] as const))
      await client.query(
        `delete from km0.${table} t using unnest($1::bigint[], $2::text[], $3::bigint[]) as d (version, owner, hour_ms)
         where t.version = d.version and t.${owner} = d.owner and t.hour_ms = d.hour_ms`,
        [flat.map(([id]) => id), flat.map(([, name]) => name), flat.map(([, , hour]) => hour)],
      )
    }
    const byVersion = new Map<number, number>()
    for (const row of rows) byVersion.set(row.version, (byVersion.get(row.version) ?? 0) + row.hours.length)
    await client.query('update km0.version set dropped_at_ms = coalesce(dropped_at_ms, $2) where id = any($1::bigint[])', [
      [...byVersion.keys()],
      atMs,
    ])
    return [...byVersion].map(([id, hours]) => ({ version: id, hours }))
  })
}

/**
 * Forgets which version serves the hours before `beforeMs`, whose rows are gone with their days, of live and versions alike. Distance by hour is
 * kept, and stays as it is served. A version that had such hours can be published no more.
 */
export async function forgetOldHours(pool: Pool, beforeMs: number, atMs: number): Promise<void> {
  const kept = 'travel'
  await pool.transaction('begin', async (client) => {
    await client.query('delete from km0.pointer where kind <> $1 and hour_ms < $2', [kept, beforeMs])
    await client.query('delete from km0.version_hour where kind <> $1 and hour_ms < $2', [kept, beforeMs])
    await client.query('update km0.version set dropped_at_ms = $2 where from_ms < $1 and dropped_at_ms is null', [beforeMs, atMs])
  })
}
