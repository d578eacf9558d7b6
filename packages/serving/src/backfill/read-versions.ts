import type {
  BackfillPipeline,
  BackfillProgress,
  BackfillState,
  BackfillView,
  HoursOfOwner,
  PointerMove,
  PublicationView,
} from '@km0/contracts'
import type { Pool } from '../pool.ts'

interface VersionColumns extends Omit<BackfillView, 'request' | 'actor'> {
  readonly pipeline: BackfillPipeline
  readonly fromMs: number
  readonly toMs: number
  readonly owners: string[] | null
  readonly actorId: string
  readonly actorName: string
  readonly actorRoles: string[]
}

const VIEW = `select v.id, v.pipeline, v.from_ms as "fromMs", v.to_ms as "toMs", v.owners, v.state, v.actor_id as "actorId", v.actor_name as "actorName",
    v.actor_roles as "actorRoles", v.reason, v.requested_at_ms as "requestedAtMs", v.finished_at_ms as "finishedAtMs", v.snapshot, v.final_ms as "finalMs",
    v.code, v.points, v.error,
    (select coalesce(sum(p.rows), 0)::bigint from km0.version_piece p where p.version = v.id) as rows,
    (select count(*) from km0.version_hour h where h.version = v.id) as hours,
    (select count(*) from km0.pointer p where p.version = v.id) as "servedHours"
  from km0.version v`

function view({ pipeline, fromMs, toMs, owners, actorId, actorName, actorRoles, ...row }: VersionColumns): BackfillView {
  return { ...row, request: { pipeline, fromMs, toMs, owners }, actor: { id: actorId, name: actorName, roles: actorRoles } }
}

/** Newest first. */
export async function listVersions(pool: Pool, limit: number): Promise<BackfillView[]> {
  return (await pool.query<VersionColumns>(`${VIEW} order by v.id desc limit $1`, [limit])).map(view)
}

export async function readVersion(pool: Pool, id: number): Promise<BackfillView | null> {
  const [row] = await pool.query<VersionColumns>(`${VIEW} where v.id = $1`, [id])
  return row === undefined ? null : view(row)
}

export async function readProgress(pool: Pool, id: number, nowMs: number): Promise<BackfillProgress | null> {
  const [version] = await pool.query<{ state: BackfillState; error: string | null; startedAtMs: number }>(
    'select state, error, started_at_ms as "startedAtMs" from km0.version where id = $1',
    [id],
  )
  if (version === undefined) return null
  const pieces = await pool.query<{ fromMs: number; points: number; share: number; done: boolean; doneAtMs: number | null }>(
    'select from_ms as "fromMs", points, share, done, done_at_ms as "doneAtMs" from km0.version_piece where version = $1 order by from_ms',
    [id],
  )
  const days = new Map<number, { dayMs: number; points: number; pointsDone: number }>()
  let sinceStart = 0
  for (const { fromMs, points, share, doneAtMs } of pieces) {
    const dayMs = Math.floor(fromMs / 86_400_000) * 86_400_000
    const day = days.get(dayMs) ?? { dayMs, points: 0, pointsDone: 0 }
    day.points += points
    day.pointsDone += Math.round(points * share)
    days.set(dayMs, day)
    // What an earlier try has done says nothing of how fast this one is.
    if (doneAtMs === null || doneAtMs >= version.startedAtMs) sinceStart += points * share
  }
  const all = [...days.values()]
  const points = all.reduce((sum, day) => sum + day.points, 0)
  const pointsDone = all.reduce((sum, day) => sum + day.pointsDone, 0)
  const seconds = (nowMs - version.startedAtMs) / 1_000
  const pointsPerSecond = version.state === 'running' && sinceStart > 0 && seconds > 0 ? sinceStart / seconds : null
  return {
    id,
    state: version.state,
    points,
    pointsDone,
    pieces: pieces.length,
    piecesDone: pieces.filter(({ done }) => done).length,
    days: all,
    pointsPerSecond,
    leftMs: pointsPerSecond === null ? null : Math.round(((points - pointsDone) / pointsPerSecond) * 1_000),
    error: version.error,
  }
}

/** Points a second of the newest runs that are done, for an estimate; null when there was none. */
export async function pastRate(pool: Pool): Promise<number | null> {
  const [row] = await pool.query<{ rate: number | null }>(
    `select sum(points)::double precision * 1000 / nullif(sum(finished_at_ms - started_at_ms), 0) as rate from (
       select points, finished_at_ms, started_at_ms from km0.version where state = 'ready' and attempt = 1 and points > 100000 order by id desc limit 5) v`,
  )
  return row?.rate ?? null
}

interface PublicationColumns extends Omit<PublicationView, 'actor' | 'held'> {
  readonly actorId: string
  readonly actorName: string
  readonly actorRoles: string[]
  readonly held: HoursOfOwner[]
}

/** Newest first; of one version, or of all. */
export async function listPublications(pool: Pool, limit: number, version?: number): Promise<PublicationView[]> {
  const rows = await pool.query<PublicationColumns>(
    `select id, action, version, undoes, actor_id as "actorId", actor_name as "actorName", actor_roles as "actorRoles", reason, at_ms as "atMs", hours, held
     from km0.publication where $2::bigint is null or version = $2 order by id desc limit $1`,
    [limit, version ?? null],
  )
  return rows.map(({ actorId, actorName, actorRoles, ...row }) => ({ ...row, actor: { id: actorId, name: actorName, roles: actorRoles } }))
}

/** What a publication moved: hours side by side that moved alike are one. */
export async function readMoves(pool: Pool, publication: number): Promise<PointerMove[]> {
  return pool.query<PointerMove & { publication: number }>(
    `select kind, owner, from_ms as "fromMs", to_ms as "toMs", before, after from km0.publication_move where publication = $1 order by owner, kind, from_ms`,
    [publication],
  )
}

export async function readLog(pool: Pool, version: number): Promise<{ readonly atMs: number; readonly line: string }[]> {
  return pool.query('select at_ms as "atMs", line from km0.version_log where version = $1 order by id', [version])
}
