import type { BackfillDifference, DifferenceHour, ResultKind } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { BackfillRefusedError } from './errors.ts'
import { sessionMoves } from './session-moves.ts'
import { type FrozenVersion, readFrozen } from './version-store.ts'

const LOCK = 827_182

interface KindQuery {
  readonly kind: ResultKind
  /** Rows of the version: owner, hour_ms, key, and what is compared. */
  readonly fresh: string
  readonly served: string
  readonly isChanged: string
  readonly mm?: readonly [before: string, after: string]
}

const RANGE = 'van = any($4::text[])'

const QUERIES: Readonly<Record<ResultKind, KindQuery>> = {
  distance: {
    kind: 'distance',
    fresh:
      'select van as owner, hour_ms, window_end_ms::text as key, distance_mm, positions, jumps, displacement_mm from km0.version_distance where version = $1 and window_end_ms > $2 and window_end_ms <= $3',
    served: `select van as owner, hour_ms, window_end_ms::text as key, distance_mm, positions, jumps, displacement_mm from km0.served_distance
      where window_end_ms > $2 and window_end_ms <= $3 and ${RANGE}`,
    isChanged:
      '(f.distance_mm, f.positions, f.jumps, f.displacement_mm) is distinct from (s.distance_mm, s.positions, s.jumps, s.displacement_mm)',
  },
  session: {
    kind: 'session',
    fresh: `select v.van as owner, v.hour_ms, v.start_ms::text as key, v.end_ms, v.positions from km0.version_session v
      join unnest($4::text[], $5::bigint[], $6::bigint[]) as r (owner, from_ms, to_ms) on r.owner = v.van and v.hour_ms >= r.from_ms and v.hour_ms < r.to_ms
      where v.version = $1`,
    served: `select s.van as owner, s.hour_ms, s.start_ms::text as key, s.end_ms, s.positions from km0.served_session s
      join unnest($4::text[], $5::bigint[], $6::bigint[]) as r (owner, from_ms, to_ms) on r.owner = s.van and s.hour_ms >= r.from_ms and s.hour_ms < r.to_ms
      where s.start_ms >= $2 and s.start_ms < $3`,
    isChanged: '(f.end_ms, f.positions) is distinct from (s.end_ms, s.positions)',
  },
  travel: {
    kind: 'travel',
    fresh:
      'select van as owner, hour_ms, hour_ms::text as key, distance_mm, positions, jumps, jumps_mm, gaps, gaps_mm from km0.version_travel where version = $1',
    served: `select van as owner, hour_ms, hour_ms::text as key, distance_mm, positions, jumps, jumps_mm, gaps, gaps_mm from km0.served_travel
      where hour_ms >= $2 and hour_ms < $3 and ${RANGE}`,
    // Live tells nothing of the length of jumps and gaps.
    isChanged: `(f.distance_mm, f.positions, f.jumps) is distinct from (s.distance_mm, s.positions, s.jumps)
      or (s.gaps is not null and (f.jumps_mm, f.gaps, f.gaps_mm) is distinct from (s.jumps_mm, s.gaps, s.gaps_mm))`,
    mm: ['max(s.distance_mm)', 'max(f.distance_mm)'],
  },
  alert: {
    kind: 'alert',
    fresh: `select market as owner, hour_ms, window_start_ms || '|' || product as key, minimum, updates from km0.version_alert where version = $1`,
    served: `select market as owner, hour_ms, window_start_ms || '|' || product as key, minimum, updates from km0.served_alert
      where window_start_ms >= $2 and window_start_ms < $3 and market = any($4::text[])`,
    isChanged: '(f.minimum, f.updates) is distinct from (s.minimum, s.updates)',
  },
}

/**
 * Compares a complete version with what is served and stores what differs. Compared are the hours that publishing it would move. Resolves with the
 * stored difference when nothing was published since; of a version that is served with what it changed when it was published.
 */
export async function difference(pool: Pool, id: number): Promise<BackfillDifference> {
  return pool.transaction('begin', async (client) => {
    await lockComparison(client, id)
    const version = await readFrozen(client, id)
    if (version === null) throw new BackfillRefusedError(`there is no version ${id}: \`km0 backfill list\` shows those that there are`)
    if (version.state !== 'ready') throw new BackfillRefusedError(`version ${id} is ${version.state}: there is nothing to compare yet`)
    const { rows } = await client.query<{ newest: number; known: number | null; isServed: boolean }>(
      `select coalesce((select max(id) from km0.publication), 0)::bigint as newest, compared_with as known,
         exists (select from km0.pointer p where p.version = v.id) as "isServed" from km0.version v where v.id = $1`,
      [id],
    )
    const { newest = 0, known = null, isServed = false } = rows[0] ?? {}
    if (known === null || (known !== newest && !isServed)) await compare(client, version, newest)
    const publication = isServed && known !== null ? known : newest
    return { id, publication, isServed, ...(await readDifference(client, id)) }
  })
}

/** Two that compare the same version come one after the other: whoever may compare takes this before any row of the version. */
export async function lockComparison(client: Client, id: number): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1, $2)', [LOCK, id % 2_147_483_647])
}

/** Stores what a version changes of what is served now. The caller holds `lockComparison`. */
export async function compare(client: Client, version: FrozenVersion, newest: number): Promise<void> {
  const { id, request } = version
  await client.query('delete from km0.version_difference where version = $1', [id])
  const { rows: owners } = await client.query<{ owner: string }>(
    `select distinct owner from km0.version_hour where version = $1 and kind = $2`,
    [id, request.pipeline === 'positions' ? 'distance' : 'alert'],
  )
  const names = owners.map(({ owner }) => owner)
  const asked = [id, request.fromMs, request.toMs, names]
  if (request.pipeline === 'stock') await compareKind(client, QUERIES.alert, asked)
  else {
    await compareKind(client, QUERIES.distance, asked)
    // What the live job's code computed holds no distance by hour.
    const { rows: travel } = await client.query(`select 1 from km0.version_hour where version = $1 and kind = 'travel' limit 1`, [id])
    if (travel.length > 0) await compareKind(client, QUERIES.travel, asked)
    const { ranges } = await sessionMoves(client, version)
    const fromMs = Math.min(...ranges.map((range) => range.fromMs), request.fromMs)
    const toMs = Math.max(...ranges.map((range) => range.toMs), request.toMs)
    const spans = [ranges.map(({ owner }) => owner), ranges.map((range) => range.fromMs), ranges.map((range) => range.toMs)]
    await compareKind(client, QUERIES.session, [id, fromMs, toMs, ...spans])
  }
  await client.query('update km0.version set compared_with = $2 where id = $1', [id, newest])
}

async function compareKind(client: Client, { kind, fresh, served, isChanged, mm }: KindQuery, values: readonly unknown[]): Promise<void> {
  const [before, after] = mm ?? ['null::bigint', 'null::bigint']
  await client.query(
    `insert into km0.version_difference (version, owner, hour_ms, kind, added, removed, changed, before_mm, after_mm)
     select * from (
       select $1::bigint, coalesce(f.owner, s.owner), coalesce(f.hour_ms, s.hour_ms), '${kind}',
         count(*) filter (where s.key is null) as added, count(*) filter (where f.key is null) as removed,
         count(*) filter (where s.key is not null and f.key is not null and (${isChanged})) as changed, ${before}, ${after}
       from (${fresh}) f full join (${served}) s on s.owner = f.owner and s.key = f.key
       group by 2, 3) d
     where added + removed + changed > 0`,
    [...values],
  )
}

async function readDifference(client: Client, id: number): Promise<Omit<BackfillDifference, 'id' | 'publication' | 'isServed'>> {
  const { rows: hours } = await client.query<DifferenceHour>(
    `select owner, hour_ms as "hourMs", kind, added, removed, changed, before_mm as "beforeMm", after_mm as "afterMm"
     from km0.version_difference where version = $1 order by owner, hour_ms, kind`,
    [id],
  )
  const sum = (of: (hour: DifferenceHour) => number) => hours.reduce((total, hour) => total + of(hour), 0)
  return {
    added: sum((hour) => hour.added),
    removed: sum((hour) => hour.removed),
    changed: sum((hour) => hour.changed),
    beforeMm: sum((hour) => hour.beforeMm ?? 0),
    afterMm: sum((hour) => hour.afterMm ?? 0),
    hours,
  }
}
