import type { OwnerSpan, Piece } from '@km0/backfill'
import { type Actor, BACKFILL_KINDS, type BackfillRequest, type BackfillState } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'

/** A backfill that is frozen and cut, before it is stored. */
export interface VersionPlan {
  readonly naturalId: string
  /** Request, code and rules: versions of one question differ in what the lake held. */
  readonly question: string
  readonly request: BackfillRequest
  readonly code: string
  readonly settings: unknown
  readonly sessionGapMs: number
  readonly snapshot: number
  readonly epoch: number
  /** Next offset of each partition that the snapshot holds. */
  readonly offsets: Readonly<Record<string, number>>
  readonly finalMs: number
  readonly owners: readonly string[]
  /** Owners whose sessions go beyond the range. */
  readonly spans: readonly SpanWithTail[]
  readonly pieces: readonly Piece[]
}

/** `tailMs`: before it a new point could change a session of the version. */
export interface SpanWithTail extends OwnerSpan {
  readonly tailMs: number
}

/** What a worker needs of a version to compute its pieces. */
export interface FrozenVersion {
  readonly id: number
  readonly state: BackfillState
  readonly attempt: number
  readonly request: BackfillRequest
  readonly code: string
  readonly settings: unknown
  readonly snapshot: number
  readonly epoch: number
  readonly offsets: Readonly<Record<string, number>>
  readonly finalMs: number
  readonly sessionGapMs: number
  readonly spans: readonly SpanWithTail[]
  readonly isDropped: boolean
}

interface VersionRow {
  id: number
  state: BackfillState
  attempt: number
  pipeline: BackfillRequest['pipeline']
  fromMs: number
  toMs: number
  owners: string[] | null
  code: string
  settings: unknown
  snapshot: number
  epoch: number
  offsets: Record<string, number>
  finalMs: number
  sessionGapMs: number
  spans: Record<string, [number, number, number]>
  isDropped: boolean
}

const FROZEN = `v.id, v.state, v.attempt, v.pipeline, v.from_ms as "fromMs", v.to_ms as "toMs", v.owners, v.code, v.settings, v.snapshot, v.epoch, v.offsets,
  v.final_ms as "finalMs", v.session_gap_ms as "sessionGapMs", v.spans, v.dropped_at_ms is not null as "isDropped"`

function frozen({ pipeline, fromMs, toMs, owners, spans, ...row }: VersionRow): FrozenVersion {
  return {
    ...row,
    request: { pipeline, fromMs, toMs, owners },
    spans: Object.entries(spans).map(([owner, [from, to, tailMs]]) => ({ owner, fromMs: from, toMs: to, tailMs })),
  }
}

export async function readFrozen(client: Pick<Client, 'query'>, id: number, lock = ''): Promise<FrozenVersion | null> {
  const { rows } = await client.query<VersionRow>(`select ${FROZEN} from km0.version v where v.id = $1 ${lock}`, [id])
  return rows[0] === undefined ? null : frozen(rows[0])
}

/** Newest version that answers a question and still holds all of its hours. */
export async function findAnswer(client: Pick<Client, 'query'>, question: string): Promise<FrozenVersion | null> {
  const { rows } = await client.query<VersionRow>(
    `select ${FROZEN} from km0.version v where v.question = $1 and v.dropped_at_ms is null order by v.id desc limit 1`,
    [question],
  )
  return rows[0] === undefined ? null : frozen(rows[0])
}

/** Stores a plan as a running version. Of two at once with one natural id one is stored; both get its number. */
export async function createVersion(
  client: Client,
  plan: VersionPlan,
  by: { readonly actor: Actor; readonly reason: string; readonly atMs: number },
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const { request, actor } = { request: plan.request, actor: by.actor }
  const spans = Object.fromEntries(plan.spans.map(({ owner, fromMs, toMs, tailMs }) => [owner, [fromMs, toMs, tailMs]]))
  const points = plan.pieces.reduce((sum, piece) => sum + piece.points, 0)
  const { rows } = await client.query<{ id: number }>(
    `insert into km0.version (natural_id, question, pipeline, from_ms, to_ms, owners, code, settings, session_gap_ms, snapshot, epoch, offsets, final_ms,
       spans, points, state, actor_id, actor_name, actor_roles, reason, requested_at_ms, started_at_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 'running', $16, $17, $18, $19, $20, $20)
     on conflict (natural_id) do nothing returning id`,
    [
      ...[plan.naturalId, plan.question, request.pipeline, request.fromMs, request.toMs, request.owners, plan.code],
      ...[JSON.stringify(plan.settings), plan.sessionGapMs, plan.snapshot, plan.epoch, JSON.stringify(plan.offsets), plan.finalMs],
      ...[JSON.stringify(spans), points, actor.id, actor.name, actor.roles, by.reason, by.atMs],
    ],
  )
  const [created] = rows
  if (created === undefined) {
    const known = await client.query<{ id: number }>('select id from km0.version where natural_id = $1', [plan.naturalId])
    return { id: known.rows[0]?.id ?? 0, isNew: false }
  }
  await insertPieces(client, created.id, plan.pieces)
  await insertHours(client, created.id, plan)
  return { id: created.id, isNew: true }
}

async function insertPieces(client: Client, id: number, pieces: readonly Piece[]): Promise<void> {
  await client.query(
    `insert into km0.version_piece (version, piece, from_ms, to_ms, owners, points, sessions_only)
     select $1, p.piece, p.from_ms, p.to_ms, array(select jsonb_array_elements_text(p.owners)), p.points, p.sessions_only
     from jsonb_to_recordset($2::jsonb) as p (piece integer, from_ms bigint, to_ms bigint, owners jsonb, points bigint, sessions_only boolean)`,
    [
      id,
      JSON.stringify(
        pieces.map(({ piece, fromMs, toMs, owners, points, sessionsOnly }) => ({
          piece,
          from_ms: fromMs,
          to_ms: toMs,
          owners,
          points,
          sessions_only: sessionsOnly,
        })),
      ),
    ],
  )
}

async function insertHours(client: Client, id: number, { request, owners, spans }: VersionPlan): Promise<void> {
  const spanOf = new Map(spans.map((span) => [span.owner, span]))
  for (const kind of BACKFILL_KINDS[request.pipeline]) {
    const ranges = owners.map((owner) => (kind === 'session' ? (spanOf.get(owner) ?? request) : request))
    await client.query(
      `insert into km0.version_hour (version, kind, owner, hour_ms)
       select $1, $2, o.owner, h.hour_ms from unnest($3::text[], $4::bigint[], $5::bigint[]) as o (owner, from_ms, to_ms)
       cross join lateral generate_series(o.from_ms, o.to_ms - 3600000, 3600000) as h (hour_ms)`,
      [id, kind, owners, ranges.map(({ fromMs }) => fromMs), ranges.map(({ toMs }) => toMs)],
    )
  }
}

/** A piece that is not stored yet. */
export interface OpenPiece extends Piece {
  readonly version: number
}

/** Pieces of running versions that are not done, in order. */
export async function openPieces(pool: Pool, version?: number): Promise<(OpenPiece & { readonly attempt: number })[]> {
  return pool.query(
    `select p.version, p.piece, p.from_ms as "fromMs", p.to_ms as "toMs", p.owners, p.points, p.sessions_only as "sessionsOnly", v.attempt
     from km0.version_piece p join km0.version v on v.id = p.version
     where v.state = 'running' and not p.done and ($1::bigint is null or p.version = $1) order by p.version, p.piece`,
    [version ?? null],
  )
}

/** Running versions whose pieces are all there: their end was not noted. */
export async function unfinishedVersions(pool: Pool): Promise<{ id: number; attempt: number }[]> {
  return pool.query(
    `select v.id, v.attempt from km0.version v where v.state = 'running'
       and not exists (select from km0.version_piece p where p.version = v.id and not p.done)`,
  )
}

/** Puts a failed or cancelled version to work again: only what is missing. `snapshot` is where the lake is read from now on. */
export async function resumeVersion(client: Client, id: number, snapshot: number, atMs: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `update km0.version set state = 'running', attempt = attempt + 1, error = null, finished_at_ms = null, started_at_ms = $3, snapshot = $2
     where id = $1 and state in ('failed', 'cancelled')`,
    [id, snapshot, atMs],
  )
  await client.query('update km0.version_piece set share = 0 where version = $1 and not done', [id])
  return (rowCount ?? 0) > 0
}

/** Ends a running version. Resolves false when it runs no more. */
export async function endVersion(
  pool: Pool,
  id: number,
  state: Exclude<BackfillState, 'running'>,
  error: string | null,
  atMs: number,
): Promise<boolean> {
  const rows = await pool.query(
    `update km0.version set state = $2, error = $3, finished_at_ms = $4 where id = $1 and state = 'running' returning id`,
    [id, state, error, atMs],
  )
  return rows.length > 0
}

export async function writeLog(pool: Pool, version: number, line: string, atMs: number): Promise<void> {
  await pool.query('insert into km0.version_log (version, at_ms, line) values ($1, $2, $3)', [version, atMs, line])
}
