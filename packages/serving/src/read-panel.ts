import type { AcknowledgementView, Depot, DistanceView, RegisteredVan, Scope, SignalView } from '@km0/contracts'
import { readOffsets } from './offsets.ts'
import type { Client, Pool } from './pool.ts'
import { depotScope, readScoped, vanScope } from './scope.ts'

/** What the panel shows when it is opened, as of one moment, and from where the log goes on after it. */
export interface StoredPanel {
  readonly depots: readonly Depot[]
  readonly registered: readonly RegisteredVan[]
  readonly signals: readonly SignalView[]
  /** Windows that ended in the last `DISTANCE_SPAN_MS`. */
  readonly distances: readonly DistanceView[]
  /** Of the states in force. */
  readonly acknowledgements: readonly AcknowledgementView[]
  /** Next offset of each partition of the panel topic: everything before is in here, nothing after. */
  readonly nextOffsets: ReadonlyMap<number, number>
}

export const DISTANCE_SPAN_MS = 35 * 60_000

export interface PanelReadOptions {
  readonly nowMs: number
  /** Name of the panel topic. */
  readonly topic: string
}

/** Reads the panel of a scope in one repeatable-read transaction. */
export async function readPanelSnapshot(pool: Pool, scope: Scope, options: PanelReadOptions): Promise<StoredPanel> {
  return readScoped(pool, scope, async (client) => ({
    depots: await readDepots(client, scope),
    registered: await readRegistered(client, scope),
    signals: await readSignals(client, scope),
    distances: await readDistances(client, scope, options.nowMs - DISTANCE_SPAN_MS),
    acknowledgements: await readAcknowledgements(client, scope),
    nextOffsets: await readOffsets(client, options.topic),
  }))
}

/** The register alone: depots and vans of a scope. */
export async function readRegister(pool: Pool, scope: Scope): Promise<Pick<StoredPanel, 'depots' | 'registered'>> {
  return readScoped(pool, scope, async (client) => ({
    depots: await readDepots(client, scope),
    registered: await readRegistered(client, scope),
  }))
}

export async function readDepots(client: Client, scope: Scope): Promise<Depot[]> {
  const clause = depotScope(scope, 1)
  const { rows } = await client.query<Depot>(
    `select d.id, d.name, d.lat, d.lon, d.markets, d.shift_start as "shiftStart", d.shift_end as "shiftEnd"
     from km0.depot d where ${clause.sql} order by d.id`,
    [...clause.values],
  )
  return rows
}

export async function readRegistered(client: Client, scope: Scope): Promise<RegisteredVan[]> {
  const clause = vanScope(scope, 1)
  const { rows } = await client.query<RegisteredVan>(
    `select v.van, v.name, v.plate, v.depot_id as "depotId", v.in_service_from_ms as "inServiceFromMs", v.in_service_to_ms as "inServiceToMs"
     from km0.van v where ${clause.sql} order by v.van`,
    [...clause.values],
  )
  return rows
}

async function readSignals(client: Client, scope: Scope): Promise<SignalView[]> {
  const clause = vanScope(scope, 1)
  const { rows } = await client.query<SignalView>(
    `select s.van, v.depot_id as "depotId", s.state, s.since_ms as "sinceMs"
     from km0.signal_state s left join km0.van v on v.van = s.van where ${clause.sql} order by s.van`,
    [...clause.values],
  )
  return rows
}

/**
 * Windows that end after $1 as they are served: km0.served_distance with the bound told to the pointers too, so that those of older hours are
 * not looked at. The hour of such a window begins after $1 − 1 h.
 */
const SERVED_SINCE = `select l.van, l.window_start_ms, l.window_end_ms, l.distance_mm, l.positions, l.jumps, l.displacement_mm, l.revision
    from km0.distance_row l where l.window_end_ms > $1 and not exists (select from km0.pointer p
      where p.kind = 'distance' and p.hour_ms > $1::bigint - 3600000 and p.owner = l.van and p.hour_ms = km0.window_hour(l.window_end_ms))
  union all
  select n.van, n.window_start_ms, n.window_end_ms, n.distance_mm, n.positions, n.jumps, n.displacement_mm, 0
    from km0.pointer p join km0.version_distance n on n.version = p.version and n.van = p.owner and n.hour_ms = p.hour_ms
      and n.window_end_ms > p.hour_ms and n.window_end_ms <= p.hour_ms + 3600000
    where p.kind = 'distance' and p.hour_ms > $1::bigint - 3600000 and n.window_end_ms > $1`

async function readDistances(client: Client, scope: Scope, afterMs: number): Promise<DistanceView[]> {
  const clause = vanScope(scope, 2)
  const { rows } = await client.query<DistanceView>(
    `select r.van, v.depot_id as "depotId", r.window_start_ms as "windowStartMs", r.window_end_ms as "windowEndMs",
       r.distance_mm as "distanceMm", r.positions, r.jumps, r.displacement_mm as "displacementMm", r.revision
     from (${SERVED_SINCE}) r left join km0.van v on v.van = r.van
     where ${clause.sql} order by r.van, r.window_end_ms`,
    [afterMs, ...clause.values],
  )
  return rows
}

interface AcknowledgementRow {
  van: string
  sinceMs: number
  actorId: string
  actorName: string
  actorRoles: string[]
  note: string
  atMs: number
}

async function readAcknowledgements(client: Client, scope: Scope): Promise<AcknowledgementView[]> {
  const clause = vanScope(scope, 1)
  const { rows } = await client.query<AcknowledgementRow>(
    `select distinct on (a.van) a.van, a.since_ms as "sinceMs", a.actor_id as "actorId", a.actor_name as "actorName",
       a.actor_roles as "actorRoles", a.note, a.at_ms as "atMs"
     from km0.acknowledgement a join km0.signal_state s on s.van = a.van and s.since_ms = a.since_ms
     left join km0.van v on v.van = a.van where ${clause.sql} order by a.van, a.id desc`,
    [...clause.values],
  )
  return rows.map(({ actorId, actorName, actorRoles, ...rest }) => ({
    ...rest,
    actor: { id: actorId, name: actorName, roles: actorRoles },
  }))
}
