import type { Actor, HoursOfOwner } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { compare, lockComparison } from './difference.ts'
import { BackfillRefusedError } from './errors.ts'
import { type SessionMoves, sessionMoves } from './session-moves.ts'
import { type FrozenVersion, readFrozen } from './version-store.ts'

export interface Command {
  readonly actor: Actor
  readonly reason: string
  readonly atMs: number
}

export interface Published {
  readonly publication: number
  /** (kind, hour, owner) whose pointer moved. */
  readonly hours: number
  readonly joined: readonly HoursOfOwner[]
  readonly held: readonly HoursOfOwner[]
}

/** One publication at a time, and none while rows of versions that are not served are deleted. */
export const PUBLISH_LOCK = 8_271_828_182_847

/** Makes a version the served one, in one transaction. Rejects with BackfillRefusedError, changing nothing. */
export async function publish(pool: Pool, id: number, command: Command): Promise<Published> {
  return pool.transaction('begin', async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [PUBLISH_LOCK])
    await lockComparison(client, id)
    const version = await readFrozen(client, id, 'for update of v')
    await refuseUnfit(client, id, version)
    const sessions = await sessionMoves(client, version as FrozenVersion)
    if (sessions.lacking.length > 0)
      throw new BackfillRefusedError(
        `since version ${id} was computed another one was published that meets its sessions (${some(sessions.lacking)}): run the backfill again, or roll that publication back first`,
      )
    await noteDifference(client, version as FrozenVersion)
    const publication = await insertPublication(client, 'publish', id, null, command, sessions.held)
    const hours = await moveTo(client, id, publication, sessions)
    if (hours === 0) throw new BackfillRefusedError(`version ${id} is served already: there is nothing to publish`)
    await client.query('update km0.publication set hours = $2 where id = $1', [publication, hours])
    await assertNoSessionTwice(client, publication)
    return { publication, hours, joined: sessions.joined, held: sessions.held }
  })
}

async function refuseUnfit(client: Client, id: number, version: FrozenVersion | null): Promise<void> {
  if (version === null) throw new BackfillRefusedError(`there is no version ${id}: \`km0 backfill list\` shows those that there are`)
  const next = { running: 'wait until it is done', failed: 'run the backfill again', cancelled: 'run the backfill again' }
  if (version.state !== 'ready') throw new BackfillRefusedError(`version ${id} is ${version.state}: ${next[version.state]}`)
  if (version.isDropped)
    throw new BackfillRefusedError(`version ${id} is one of those that were dropped to keep the newest: run the backfill again`)
  const { request, finalMs } = version
  if (finalMs < request.toMs) throw new BackfillRefusedError(`version ${id} was frozen before its range was final: run the backfill again`)
  if (request.pipeline !== 'positions') return
  const { rows } = await client.query<{ leastMs: number | null }>(
    'select min(watermark_ms) as "leastMs" from km0.partition_mark where epoch = (select max(epoch) from km0.partition_mark)',
  )
  const leastMs = rows[0]?.leastMs ?? null
  if (leastMs !== null && leastMs < finalMs)
    throw new BackfillRefusedError(
      `the live job has come to ${new Date(leastMs).toISOString()} only, before the end of what version ${id} has read: publish when it has caught up`,
    )
}

/** What a publication changes is kept as it was before: afterwards nothing differs. */
async function noteDifference(client: Client, version: FrozenVersion): Promise<void> {
  const { rows } = await client.query<{ newest: number; known: number | null }>(
    'select coalesce((select max(id) from km0.publication), 0)::bigint as newest, compared_with as known from km0.version where id = $1',
    [version.id],
  )
  if (rows[0] !== undefined && rows[0].known !== rows[0].newest) await compare(client, version, rows[0].newest)
}

function some(names: readonly string[]): string {
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
}

async function insertPublication(
  client: Client,
  action: 'publish' | 'rollback',
  version: number,
  undoes: number | null,
  { actor, reason, atMs }: Command,
  held: readonly HoursOfOwner[],
): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `insert into km0.publication (action, version, undoes, actor_id, actor_name, actor_roles, reason, at_ms, hours, held)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9) returning id`,
    [action, version, undoes, actor.id, actor.name, actor.roles, reason, atMs, JSON.stringify(held)],
  )
  return rows[0]?.id ?? 0
}

const ISLANDS = `select kind, owner, min(hour_ms), max(hour_ms) + 3600000, before, after from (
    select *, hour_ms - 3600000 * row_number() over (partition by kind, owner, before, after order by hour_ms) as island from moved) m
  group by kind, owner, before, after, island`

/** Notes the moves and sets the pointers. Returns how many moved. */
async function moveTo(client: Client, version: number, publication: number, { ranges }: SessionMoves): Promise<number> {
  const target = `select h.kind, h.owner, h.hour_ms from km0.version_hour h where h.version = $1 and h.kind <> 'session'
    union all
    select h.kind, h.owner, h.hour_ms from km0.version_hour h
    join unnest($3::text[], $4::bigint[], $5::bigint[]) as r (owner, from_ms, to_ms)
      on r.owner = h.owner and h.hour_ms >= r.from_ms and h.hour_ms < r.to_ms
    where h.version = $1 and h.kind = 'session'`
  const values = [version, publication, ranges.map(({ owner }) => owner), ranges.map((r) => r.fromMs), ranges.map((r) => r.toMs)]
  await client.query(
    `with target as (${target}), moved as (
       select t.kind, t.owner, t.hour_ms, p.version as before, $1::bigint as after from target t
       left join km0.pointer p on p.kind = t.kind and p.owner = t.owner and p.hour_ms = t.hour_ms where p.version is distinct from $1)
     insert into km0.publication_move (publication, kind, owner, from_ms, to_ms, before, after)
     select $2, m.* from (${ISLANDS}) m`,
    values,
  )
  const { rowCount } = await client.query(
    `insert into km0.pointer as p (kind, owner, hour_ms, version, publication)
     select t.kind, t.owner, t.hour_ms, $1, $2 from (${target}) t
     on conflict (kind, owner, hour_ms) do update set version = excluded.version, publication = excluded.publication
     where p.version <> excluded.version`,
    values,
  )
  return rowCount ?? 0
}

/** Serves again what was served before a publication. Rejects with BackfillRefusedError, changing nothing. */
export async function rollBack(pool: Pool, undoes: number, command: Command): Promise<Published> {
  return pool.transaction('begin', async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [PUBLISH_LOCK])
    const { rows } = await client.query<{ action: string; version: number; undoneBy: number | null }>(
      `select p.action, p.version, (select r.id from km0.publication r where r.undoes = p.id) as "undoneBy" from km0.publication p where p.id = $1`,
      [undoes],
    )
    const [publication] = rows
    if (publication === undefined) throw new BackfillRefusedError(`there is no publication ${undoes}`)
    if (publication.action !== 'publish')
      throw new BackfillRefusedError(`publication ${undoes} is a roll back itself: publish version ${publication.version} again instead`)
    if (publication.undoneBy !== null)
      throw new BackfillRefusedError(`publication ${undoes} was rolled back already, by ${publication.undoneBy}`)
    await refuseCovered(client, undoes)
    const id = await insertPublication(client, 'rollback', publication.version, undoes, command, [])
    const hours = await moveBack(client, undoes, id)
    await client.query('update km0.publication set hours = $2 where id = $1', [id, hours])
    await assertNoSessionTwice(client, id)
    return { publication: id, hours, joined: [], held: [] }
  })
}

const EXPANDED = `select m.kind, m.owner, h.hour_ms, m.before, m.after from km0.publication_move m
  cross join lateral generate_series(m.from_ms, m.to_ms - 3600000, 3600000) as h (hour_ms) where m.publication = $1`

async function refuseCovered(client: Client, undoes: number): Promise<void> {
  const { rows: over } = await client.query<{ publication: number | null }>(
    `select distinct p.publication from (${EXPANDED}) m
     left join km0.pointer p on p.kind = m.kind and p.owner = m.owner and p.hour_ms = m.hour_ms
     where p.version is distinct from m.after order by 1 desc nulls last`,
    [undoes],
  )
  if (over.length > 0) {
    const newer = over.map(({ publication }) => publication).filter((id) => id !== null)
    throw new BackfillRefusedError(
      `hours of publication ${undoes} were moved again since${newer.length > 0 ? `, by publication ${newer.join(', ')}: roll back the newest first` : ''}`,
    )
  }
  const { rows: gone } = await client.query<{ before: number }>(
    `select distinct m.before from (${EXPANDED}) m where m.before is not null and not exists (
       select from km0.version_hour h where h.version = m.before and h.kind = m.kind and h.owner = m.owner and h.hour_ms = m.hour_ms)`,
    [undoes],
  )
  if (gone.length > 0)
    throw new BackfillRefusedError(
      `version ${gone.map(({ before }) => before).join(', ')}, which was served before, has been dropped to keep the newest: run a backfill instead`,
    )
}

async function moveBack(client: Client, undoes: number, id: number): Promise<number> {
  await client.query(
    `insert into km0.publication_move (publication, kind, owner, from_ms, to_ms, before, after)
     select $2, kind, owner, from_ms, to_ms, after, before from km0.publication_move where publication = $1`,
    [undoes, id],
  )
  const deleted = await client.query(
    `delete from km0.pointer p using (${EXPANDED}) m
     where m.before is null and p.kind = m.kind and p.owner = m.owner and p.hour_ms = m.hour_ms`,
    [undoes],
  )
  const updated = await client.query(
    `update km0.pointer p set version = m.before, publication = $2 from (${EXPANDED}) m
     where m.before is not null and p.kind = m.kind and p.owner = m.owner and p.hour_ms = m.hour_ms`,
    [undoes, id],
  )
  return (deleted.rowCount ?? 0) + (updated.rowCount ?? 0)
}

const DAY_MS = 86_400_000

/** A broken invariant: the rule of session hours has let two sessions of a van overlap. Nothing is published then. */
async function assertNoSessionTwice(client: Client, publication: number): Promise<void> {
  const { rows: spans } = await client.query<{ owners: string[] | null; fromMs: number; toMs: number }>(
    `select array_agg(distinct owner) as owners, min(from_ms) as "fromMs", max(to_ms) as "toMs" from km0.publication_move where publication = $1 and kind = 'session'`,
    [publication],
  )
  const [span] = spans
  if (span === undefined || span.owners === null) return
  const { rows } = await client.query<{ van: string; startMs: number }>(
    `select van, start_ms as "startMs" from (
       select van, start_ms, max(end_ms) over (partition by van order by start_ms rows between unbounded preceding and 1 preceding) as before_ms
       from km0.served_session where van = any($1::text[]) and start_ms >= $2 and start_ms < $3) s
     where before_ms >= start_ms limit 1`,
    [span.owners, span.fromMs - DAY_MS, span.toMs + DAY_MS],
  )
  const [twice] = rows
  if (twice !== undefined)
    throw new Error(`a session of ${twice.van} at ${new Date(twice.startMs).toISOString()} would be served twice: nothing was changed`)
}
