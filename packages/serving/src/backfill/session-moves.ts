import { type HourRange, type SessionSpan, sessionHours } from '@km0/backfill'
import type { HoursOfOwner } from '@km0/contracts'
import type { Client } from '../pool.ts'
import type { FrozenVersion } from './version-store.ts'

/** What publishing a version does to sessions, van by van, as things stand. */
export interface SessionMoves {
  readonly ranges: readonly (HourRange & { readonly owner: string })[]
  readonly joined: readonly HoursOfOwner[]
  readonly held: readonly HoursOfOwner[]
  /** Vans whose sessions now need hours that the version does not hold: another one was published meanwhile. */
  readonly lacking: readonly string[]
}

type SessionRow = SessionSpan & { readonly van: string }

/** A session longer than this is not looked for. */
const LONGEST_MS = 30 * 86_400_000

/** Applies the rule of `sessionHours` to every van of a version that is complete. */
export async function sessionMoves(client: Pick<Client, 'query'>, version: FrozenVersion): Promise<SessionMoves> {
  const { request } = version
  if (request.pipeline !== 'positions') return { ranges: [], joined: [], held: [], lacking: [] }
  const { rows: vans } = await client.query<HourRange & { owner: string }>(
    `select owner, min(hour_ms) as "fromMs", max(hour_ms) + 3600000 as "toMs" from km0.version_hour where version = $1 and kind = 'session' group by owner order by owner`,
    [version.id],
  )
  const { rows: fresh } = await client.query<SessionRow>(
    'select van, start_ms as "startMs", end_ms as "endMs" from km0.version_session where version = $1',
    [version.id],
  )
  const fromMs = Math.min(request.fromMs, ...vans.map((van) => van.fromMs))
  const toMs = fresh.reduce((most, { endMs }) => Math.max(most, endMs), Math.max(request.toMs, ...vans.map((van) => van.toMs)))
  const served = await readServedSessions(
    client,
    vans.map(({ owner }) => owner),
    fromMs,
    toMs,
  )
  return decide(version, vans, groupByVan(fresh), groupByVan(served))
}

/** Served sessions of some vans that touch [fromMs, toMs]. */
export async function readServedSessions(
  client: Pick<Client, 'query'>,
  vans: readonly string[],
  fromMs: number,
  toMs: number,
): Promise<SessionRow[]> {
  const { rows } = await client.query<SessionRow>(
    `select van, start_ms as "startMs", end_ms as "endMs" from km0.served_session
     where van = any($1::text[]) and start_ms >= $2 and start_ms <= $4 and end_ms >= $3`,
    [vans, fromMs - LONGEST_MS, fromMs, toMs],
  )
  return rows
}

function decide(
  version: FrozenVersion,
  vans: readonly (HourRange & { owner: string })[],
  fresh: ReadonlyMap<string, SessionRow[]>,
  served: ReadonlyMap<string, SessionRow[]>,
): SessionMoves {
  const { request } = version
  const asked = { fromMs: request.fromMs, toMs: request.toMs }
  const ranges: (HourRange & { owner: string })[] = []
  const joined: HoursOfOwner[] = []
  const held: HoursOfOwner[] = []
  const lacking: string[] = []
  for (const { owner, ...holds } of vans) {
    const { range, needed } = sessionHours(asked, served.get(owner) ?? [], fresh.get(owner) ?? [], version)
    if (needed.fromMs < holds.fromMs || needed.toMs > holds.toMs) lacking.push(owner)
    if (range !== null) ranges.push({ owner, ...range })
    const [fromMs, toMs] = range === null ? [asked.toMs, asked.fromMs] : [range.fromMs, range.toMs]
    if (fromMs < asked.fromMs) joined.push({ owner, fromMs, toMs: asked.fromMs, why: 'a session that starts there reaches into the range' })
    if (toMs > asked.toMs)
      joined.push({ owner, fromMs: asked.toMs, toMs, why: 'a session of the range covers what is served there as another one' })
    const openFromMs = Math.max(asked.fromMs, range?.toMs ?? asked.fromMs)
    if (openFromMs < asked.toMs)
      held.push({ owner, fromMs: openFromMs, toMs: asked.toMs, why: 'a session that starts there is not closed yet' })
  }
  return { ranges, joined, held, lacking }
}

function groupByVan(rows: readonly SessionRow[]): Map<string, SessionRow[]> {
  const groups = new Map<string, SessionRow[]>()
  for (const row of rows) {
    const group = groups.get(row.van)
    if (group === undefined) groups.set(row.van, [row])
    else group.push(row)
  }
  return groups
}
