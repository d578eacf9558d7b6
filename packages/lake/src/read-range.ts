import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { currentSnapshot } from './read-positions.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, type LakeTable, onEventDays, POSITIONS } from './tables.ts'

export interface OwnersQuery {
  readonly table: LakeTable
  /** Event time, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  readonly snapshot: number
  readonly owners: readonly string[] | null
}

/** Rows of each owner (van, or market) by UTC day of event time, in days since 1970. */
export async function countByOwnerAndDay(lake: Lake, query: OwnersQuery): Promise<{ owner: string; day: number; points: number }[]> {
  return lake.use((connection) =>
    connection.all(
      `SELECT ${ownerColumn(query.table)} AS owner, (event_ms // 86400000)::INTEGER AS day, count(*)::DOUBLE AS points
        FROM ${at(query.table, query.snapshot)} WHERE ${conditionOf(query)} GROUP BY ALL`,
    ),
  )
}

/** Rows with event time in the range that came to the lake after it stood at `offsets` (of the newest epoch). `tails`: later ends of some owners. */
export async function countNewer(
  lake: Lake,
  query: OwnersQuery & {
    readonly epoch: number
    readonly offsets: Readonly<Record<string, number>>
    readonly tails: ReadonlyMap<string, number>
  },
): Promise<number> {
  const { tails, toMs, epoch } = query
  const last = Math.max(toMs, ...tails.values())
  const until = [...tails].map(([owner, ms]) => `WHEN ${literal(owner)} THEN ${Math.trunc(ms)}`)
  const end = until.length === 0 ? String(toMs) : `CASE ${ownerColumn(query.table)} ${until.join(' ')} ELSE ${toMs} END`
  const known = Object.entries(query.offsets).map(([partition, next]) => `WHEN ${Math.trunc(Number(partition))} THEN ${Math.trunc(next)}`)
  const first = known.length === 0 ? '0' : `CASE kafka_partition ${known.join(' ')} ELSE 0 END`
  return lake.use(async (connection) => {
    const [row] = await connection.all<{ count: number }>(
      `SELECT count(*)::DOUBLE AS count FROM ${at(query.table, query.snapshot)} WHERE ${conditionOf({ ...query, toMs: last })}
        AND event_ms < ${end} AND (epoch > ${Math.trunc(epoch)} OR (epoch = ${Math.trunc(epoch)} AND kafka_offset >= ${first}))`,
    )
    return row?.count ?? 0
  })
}

export interface Border {
  readonly van: string
  readonly atMs: number
}

export interface SpanOfVan {
  readonly van: string
  readonly startMs: number
  readonly endMs: number
}

/** How far a session is looked for at first; four times as far each time that its end is not found. */
const FIRST_LOOK_MS = 7_200_000

/** Of the borders those that lie within a session (points before and at or after, each step at most a gap): that session, whole. */
export async function sessionsAcross(lake: Lake, borders: readonly Border[], gapMs: number, snapshot: number): Promise<SpanOfVan[]> {
  const days = new Map<number, Border[]>()
  for (const border of borders) days.set(dayOf(border.atMs), [...(days.get(dayOf(border.atMs)) ?? []), border])
  return lake.use(async (connection) => {
    const found: SpanOfVan[] = []
    // One day after the other, so that no day between is read.
    for (const some of days.values()) found.push(...(await acrossOfDay(connection, some, gapMs, snapshot)))
    return found
  })
}

async function acrossOfDay(connection: LakeConnection, borders: readonly Border[], gapMs: number, snapshot: number): Promise<SpanOfVan[]> {
  const around = await connection.all<{ van: string; at_ms: number; before: number | null; after: number | null }>(
    `WITH b (van, at_ms) AS (VALUES ${borders.map(({ van, atMs }) => `(${literal(van)}, ${Math.trunc(atMs)}::BIGINT)`).join(', ')})
        SELECT van, at_ms::DOUBLE AS at_ms, max(event_ms) FILTER (event_ms < at_ms)::DOUBLE AS before, min(event_ms) FILTER (event_ms >= at_ms)::DOUBLE AS after
        FROM ${at(POSITIONS, snapshot)} JOIN b USING (van)
        WHERE ${within(Math.min(...borders.map((b) => b.atMs)) - gapMs, Math.max(...borders.map((b) => b.atMs)) + gapMs)}
          AND event_ms >= at_ms - ${gapMs} AND event_ms < at_ms + ${gapMs} GROUP BY ALL`,
  )
  const crossing = around.filter(({ before, after }) => before !== null && after !== null && after - before <= gapMs)
  const starts = await ends(connection, crossing, gapMs, snapshot, -1)
  const lasts = await ends(connection, crossing, gapMs, snapshot, 1)
  return crossing.map(({ van, at_ms }, index) => ({ van, startMs: starts[index] ?? at_ms, endMs: lasts[index] ?? at_ms }))
}

/** First (direction −1) or last (1) point of the session that lies across each border. */
async function ends(
  connection: LakeConnection,
  borders: readonly { readonly van: string; readonly at_ms: number }[],
  gapMs: number,
  snapshot: number,
  direction: -1 | 1,
): Promise<number[]> {
  const found: (number | undefined)[] = borders.map(() => undefined)
  for (let lookMs = FIRST_LOOK_MS; ; lookMs *= 4) {
    const open = borders.map((border, index) => ({ ...border, index })).filter(({ index }) => found[index] === undefined)
    if (open.length === 0) return found.map((ms) => ms ?? 0)
    const least = Math.min(...open.map((b) => b.at_ms)) - (direction < 0 ? lookMs : 0)
    const most = Math.max(...open.map((b) => b.at_ms)) + (direction > 0 ? lookMs : 0)
    const [pick, neighbour, side] = direction < 0 ? ['max', 'lag', 'event_ms < at_ms'] : ['min', 'lead', 'event_ms >= at_ms']
    const rows = await connection.all<{ number: number; ms: number }>(
      `WITH b (number, van, at_ms) AS (VALUES ${open.map((b) => `(${b.index}, ${literal(b.van)}, ${Math.trunc(b.at_ms)}::BIGINT)`).join(', ')}),
        p AS (SELECT number, event_ms, abs(event_ms - ${neighbour}(event_ms) OVER (PARTITION BY number ORDER BY event_ms)) AS step
          FROM ${at(POSITIONS, snapshot)} JOIN b USING (van)
          WHERE ${within(least, most)} AND ${side} AND event_ms >= at_ms - ${lookMs} AND event_ms < at_ms + ${lookMs})
        SELECT number, ${pick}(event_ms)::DOUBLE AS ms FROM p WHERE step IS NULL OR step > ${gapMs} GROUP BY number`,
    )
    for (const { number, ms } of rows) {
      const atMs = borders[number]?.at_ms ?? 0
      // Within a gap of where reading ended, more may follow.
      if (Math.abs(ms - atMs) + gapMs < lookMs) found[number] = ms
    }
    if (lookMs > 400 * 86_400_000) throw new RangeError('a session that lasts longer than a year')
  }
}

const at = (table: LakeTable, snapshot: number) => `${LAKE}.${identifier(table.name)} AT (VERSION => ${Math.trunc(snapshot)})`
const ownerColumn = (table: LakeTable) => (table === POSITIONS ? 'van' : 'market')

function within(fromMs: number, toMs: number): string {
  return `kind = '${ROW_KINDS.position}' AND ${onEventDays(dayOf(fromMs), dayOf(toMs))}
    AND event_ms >= ${Math.trunc(fromMs)} AND event_ms < ${Math.trunc(toMs)}`
}

function conditionOf({ table, fromMs, toMs, owners }: OwnersQuery): string {
  const kind = table === POSITIONS ? ROW_KINDS.position : ROW_KINDS.event
  const some = owners === null ? 'true' : owners.length === 0 ? 'false' : `${ownerColumn(table)} IN (${owners.map(literal).join(', ')})`
  return `kind = '${kind}' AND ${onEventDays(dayOf(fromMs), dayOf(toMs - 1))}
    AND event_ms >= ${Math.trunc(fromMs)} AND event_ms < ${Math.trunc(toMs)} AND ${some}`
}

/** Points of one van in event order, each event time once: the first in the log. */
export async function readTrackPoints(
  lake: Lake,
  query: { readonly van: string; readonly fromMs: number; readonly toMs: number; readonly snapshot?: number | undefined },
): Promise<{ eventMs: number; lat: number; lon: number; delayMs: number }[]> {
  const snapshot = query.snapshot ?? (await currentSnapshot(lake))
  return lake.use((connection) =>
    connection.all(
      `SELECT event_ms::DOUBLE AS "eventMs", lat, lon, (arrival_ms - event_ms)::DOUBLE AS "delayMs" FROM ${at(POSITIONS, snapshot)}
        WHERE ${within(query.fromMs, query.toMs)} AND van = ${literal(query.van)}
        QUALIFY row_number() OVER (PARTITION BY event_ms ORDER BY epoch, kafka_partition, kafka_offset) = 1 ORDER BY event_ms`,
    ),
  )
}
