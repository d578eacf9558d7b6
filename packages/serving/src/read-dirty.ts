import type { ResultKind, Scope } from '@km0/contracts'
import {
  type DirtyCause,
  type DirtyHour,
  dirtyHours,
  HOUR_MS,
  type IsCovered,
  type MissedPoint,
  mergeHours,
  type ReachRules,
  type SessionSpan,
  type UnseenSpan,
  unseenHours,
} from './dirty-hours.ts'
import { type DirtyPiece, dirtyPieces, readSpans } from './dirty-plan.ts'
import type { Client, Pool } from './pool.ts'
import { queryScoped, readScoped, vanScope } from './scope.ts'

export interface DirtyQuery {
  /** Event time of the missed points that are looked at, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  /** Only these vans; absent: all. */
  readonly vans?: readonly string[]
  readonly rules: ReachRules
  /** Live may change a window for so long after the watermark has passed its end. Default 0. */
  readonly allowedLatenessMs?: number
  /** Mark hours also where what is published was computed with the points. Default false. */
  readonly evenIfPublished?: boolean
}

/** The hours that points of a range make dirty, for the vans of a scope, as of one moment. */
export function readDirtyHours(pool: Pool, scope: Scope, query: DirtyQuery): Promise<DirtyHour[]> {
  return readScoped(pool, scope, async (client) => {
    const missed = await readMissed(client, scope, query)
    const unseen = await readUnseen(client, scope, query)
    const vans = [...new Set([...missed, ...unseen].map(({ van }) => van))]
    const sessions = await readSessions(client, vans, query)
    const served = query.evenIfPublished === true ? noPointers : await readPointers(client, vans, query)
    const hours = dirtyHours(missed, sessions, query.rules, served.isCovered)
    const holes = unseen.flatMap((span) => {
      const own = sessions.filter(({ van }) => van === span.van)
      return unseenHours(span, own, query.rules, (hourMs) => served.isPublished(span.van, hourMs))
    })
    return holes.length === 0 ? hours : mergeHours([...hours, ...holes])
  })
}

/** The dirty hours of a range, and the smallest backfill that would leave none but those that live may still change. */
export interface DirtyPlan {
  readonly hours: readonly DirtyHour[]
  /** Dirty hours that are not final yet, in no piece: until when the log must be final for the last of them. */
  readonly waiting: { readonly hours: number; readonly untilMs: number } | null
  readonly pieces: readonly DirtyPiece[]
  /** Different late points that it would bring in. */
  readonly points: number
  /** Rows of the lake that it would read, about: points that live results hold, and late ones. */
  readonly rowsToRead: number
}

export async function readDirtyPlan(pool: Pool, scope: Scope, query: DirtyQuery): Promise<DirtyPlan> {
  const all = await readDirtyHours(pool, scope, query)
  // A day is the sum of its hours: its last hour is made again only for what else it holds.
  const hours = all.filter(({ causes }) => causes.size > 1 || !causes.has('day'))
  const finalMs = await readFinalMs(pool, query.allowedLatenessMs ?? 0)
  const isFinal = ({ hourMs }: DirtyHour) => finalMs === null || hourMs + HOUR_MS <= finalMs
  const open = hours.filter((hour) => !isFinal(hour))
  const pieces = dirtyPieces(hours.filter(isFinal))
  const points = pieces.reduce((sum, piece) => sum + piece.points, 0)
  const spans = readSpans(pieces, query.rules)
  const [counted] = await queryScoped<{ rows: number | null }>(
    pool,
    scope,
    `select sum(d.positions) as rows
       from unnest($1::text[], $2::bigint[], $3::bigint[]) as s (van, from_ms, to_ms)
       join km0.distance_row d on d.van = s.van and d.window_end_ms > s.from_ms and d.window_end_ms <= s.to_ms
      where d.window_end_ms % $4 = 0`,
    [spans.map(({ van }) => van), spans.map(({ fromMs }) => fromMs), spans.map(({ toMs }) => toMs), query.rules.windowSizeMs],
  )
  const waiting = open.length === 0 ? null : { hours: open.length, untilMs: Math.max(...open.map(({ hourMs }) => hourMs)) + HOUR_MS }
  return { hours, waiting, pieces, points, rowsToRead: (counted?.rows ?? 0) + points }
}

/** Up to where what is served is final in every partition; null where no partition has told yet. */
async function readFinalMs(pool: Pool, allowedLatenessMs: number): Promise<number | null> {
  const [row] = await pool.query<{ leastMs: number | null }>(
    'select min(watermark_ms) as "leastMs" from km0.partition_mark where epoch = (select max(epoch) from km0.partition_mark)',
  )
  return row === undefined || row.leastMs === null ? null : row.leastMs - allowedLatenessMs
}

async function readMissed(client: Client, scope: Scope, { fromMs, toMs, vans }: DirtyQuery): Promise<MissedPoint[]> {
  const clause = vanScope(scope, 4)
  const { rows } = await client.query<MissedPoint>(
    `select l.van, l.event_ms as "eventMs", l.reason, l.epoch, l.source_partition as partition, l.source_offset as offset
     from km0.late_point l left join km0.van v on v.van = l.van
     where l.event_ms >= $1 and l.event_ms < $2 and ($3::text[] is null or l.van = any($3::text[])) and ${clause.sql} order by l.van, l.event_ms`,
    [fromMs, toMs, vans ?? null, ...clause.values],
  )
  return rows
}

/** No session is longer: a van that sends without a pause of three minutes for so long is none of ours. */
const LONGEST_SESSION_MS = 14 * 86_400_000

/** Sessions that may hold, touch or follow a point of the range; an open one has no end yet. */
async function readSessions(client: Client, vans: readonly string[], { fromMs, toMs, rules }: DirtyQuery): Promise<SessionSpan[]> {
  if (vans.length === 0) return []
  const { rows } = await client.query<{ van: string; startMs: number; lastMs: number | null }>(
    `select van, start_ms as "startMs", end_ms as "lastMs" from km0.served_session
       where van = any($1::text[]) and start_ms >= $2 and start_ms <= $3 and end_ms >= $4
     union all
     select van, since_ms, null from km0.signal_state where van = any($1::text[]) and state = 'signal'`,
    [vans, fromMs - LONGEST_SESSION_MS, toMs + rules.maxGapMs, fromMs - rules.sessionGapMs],
  )
  return rows.map(({ van, startMs, lastMs }) => ({ van, startMs, lastMs: lastMs ?? Number.POSITIVE_INFINITY }))
}

/** Which kind of result tells whether a cause is taken in. */
const KIND_OF: Readonly<Record<DirtyCause, ResultKind>> = {
  windows: 'distance',
  session: 'session',
  gap: 'travel',
  day: 'travel',
  hole: 'distance',
}

interface PointerRow {
  owner: string
  kind: ResultKind
  hourMs: number
  pipelineEpoch: number
  offsets: Readonly<Record<string, number>>
}

interface Pointers {
  readonly isCovered: IsCovered
  /** Whether windows and sessions of the hour are those of a version. */
  isPublished(van: string, hourMs: number): boolean
}

const noPointers: Pointers = { isCovered: () => false, isPublished: () => false }

/**
 * A published version holds the records before its offsets: its snapshot of the lake had them. Late points of a later epoch of the windowing job
 * may be of another log; they are not covered until a backfill is made under that epoch.
 */
async function readPointers(client: Client, vans: readonly string[], { fromMs, toMs, rules }: DirtyQuery): Promise<Pointers> {
  const { rows } = await client.query<PointerRow>(
    `select p.owner, p.kind, p.hour_ms as "hourMs", v.pipeline_epoch as "pipelineEpoch", v.offsets
     from km0.pointer p join km0.version v on v.id = p.version
     where p.kind <> 'alert' and p.owner = any($1::text[]) and p.hour_ms >= $2 and p.hour_ms <= $3`,
    [vans, fromMs - LONGEST_SESSION_MS, toMs + rules.maxGapMs],
  )
  const pointers = new Map(rows.map((row) => [`${row.kind}|${row.hourMs}|${row.owner}`, row]))
  return {
    isCovered: (van, hourMs, cause, { epoch, partition, offset }) => {
      const version = pointers.get(`${KIND_OF[cause]}|${hourMs}|${van}`)
      if (version === undefined) return false
      return epoch <= version.pipelineEpoch && offset < (version.offsets[String(partition)] ?? 0)
    },
    isPublished: (van, hourMs) => pointers.has(`distance|${hourMs}|${van}`) && pointers.has(`session|${hourMs}|${van}`),
  }
}

/** What retention had deleted before the windowing job read it. It may be of all vans that were heard in the partition. */
async function readUnseen(client: Client, scope: Scope, { fromMs, toMs, vans }: DirtyQuery): Promise<UnseenSpan[]> {
  const clause = vanScope(scope, 4)
  const { rows } = await client.query<UnseenSpan>(
    `select p.van, o.from_ms as "fromMs", o.to_ms as "toMs" from km0.log_hole o
     join km0.live_point p on p.source_partition = o.partition left join km0.van v on v.van = p.van
     where o.to_ms > $1 and o.from_ms < $2 and ($3::text[] is null or p.van = any($3::text[])) and ${clause.sql}`,
    [fromMs, toMs, vans ?? null, ...clause.values],
  )
  return rows
}
