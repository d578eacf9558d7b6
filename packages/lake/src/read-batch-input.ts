import { identifier, LAKE, type Lake, literal } from './lake.ts'
import { type PositionColumns, readPositions } from './read-positions.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, POSITIONS } from './tables.ts'

export interface BatchInputQuery {
  /** Event time, `[fromMs, toMs)`, of the range whose rows are wanted. */
  readonly fromMs: number
  readonly toMs: number
  /** From here on all points are needed: start of the Madrid day and more (section 8). */
  readonly needsFromMs: number
  readonly sessionGapMs: number
  /** A point farther back than this before `needsFromMs` counts for nothing. */
  readonly maxGapMs: number
  readonly vans?: readonly string[]
  /** Version of the lake that is read throughout; a run that is tried again reads the same. */
  readonly snapshot: number
  /** How much is read at a time beyond the range, for sessions that go on. Default 1 h. */
  readonly stepMs?: number
}

/**
 * The points that a batch run over a range needs, and no more than a step beyond: those from `needsFromMs`, of each van the last one before,
 * and those after the range up to the first gap that ends at or after its end. So sessions that begin in the range are whole.
 */
export async function readBatchInput(lake: Lake, query: BatchInputQuery): Promise<PositionColumns> {
  const { toMs, needsFromMs, sessionGapMs, snapshot, vans } = query
  const some = vans === undefined ? {} : { vans }
  const within = await readPositions(lake, { fromMs: needsFromMs, toMs, snapshot, ...some })
  const parts = [...(await readLastBefore(lake, query, within.vans)), within]
  const open = new OpenVans(toMs, sessionGapMs)
  for (const part of parts) open.add(part)
  const stepMs = Math.max(query.stepMs ?? 3_600_000, sessionGapMs + 1)
  // A step longer than a gap without a point ends every chain.
  for (let atMs = toMs; ; atMs += stepMs) {
    const names = open.namesAt(atMs)
    if (names.length === 0) break
    const part = await readPositions(lake, { fromMs: atMs, toMs: atMs + stepMs, snapshot, vans: names })
    open.add(part)
    parts.push(part)
  }
  return joined(parts)
}

interface LastRow {
  readonly van: string
  readonly event_ms: number
  readonly lat: number
  readonly lon: number
  readonly epoch: number
  readonly partition: number
  readonly log_offset: number
}

/** How far back a last point is looked for at first: most vans have one near, and rows of old days need not be read then. */
const NEAR_MS = [3_600_000, 86_400_000]

/** Of each of these vans the last point before `needsFromMs`; of equal times the one that is first in the log. */
async function readLastBefore(lake: Lake, query: BatchInputQuery, vans: readonly string[]): Promise<PositionColumns[]> {
  const { needsFromMs, maxGapMs } = query
  const parts: PositionColumns[] = []
  let missing = vans
  let toMs = needsFromMs
  for (const backMs of [...NEAR_MS.filter((ms) => ms < maxGapMs), maxGapMs]) {
    if (missing.length === 0) break
    const part = await readLastWithin(lake, query.snapshot, missing, needsFromMs - backMs, toMs)
    parts.push(part)
    const found = new Set(part.vans)
    missing = missing.filter((van) => !found.has(van))
    toMs = needsFromMs - backMs
  }
  return parts
}

async function readLastWithin(
  lake: Lake,
  snapshot: number,
  vans: readonly string[],
  fromMs: number,
  toMs: number,
): Promise<PositionColumns> {
  const rows = await lake.use((connection) =>
    connection.all<LastRow>(
      `SELECT van, event_ms::DOUBLE AS event_ms, lat, lon, epoch, kafka_partition AS partition, kafka_offset::DOUBLE AS log_offset
        FROM ${LAKE}.${identifier(POSITIONS.name)} AT (VERSION => ${Math.trunc(snapshot)})
        WHERE kind = '${ROW_KINDS.position}' AND van IN (${vans.map(literal).join(', ')})
          AND event_day >= DATE '1970-01-01' + ${dayOf(fromMs)} AND event_day <= DATE '1970-01-01' + ${dayOf(toMs)}
          AND event_ms >= ${Math.trunc(fromMs)} AND event_ms < ${Math.trunc(toMs)}
        QUALIFY row_number() OVER (PARTITION BY van ORDER BY event_ms DESC, epoch, kafka_partition, kafka_offset) = 1`,
    ),
  )
  const names = rows.map((row) => row.van)
  return {
    rowCount: rows.length,
    vans: names,
    van: Uint32Array.from(names.keys()),
    eventMs: Float64Array.from(rows, (row) => row.event_ms),
    lat: Float64Array.from(rows, (row) => row.lat),
    lon: Float64Array.from(rows, (row) => row.lon),
    epoch: Int32Array.from(rows, (row) => row.epoch),
    partition: Int32Array.from(rows, (row) => row.partition),
    offset: Float64Array.from(rows, (row) => row.log_offset),
  }
}

/** Vans whose points go on, without a gap, from within the range to where it was read. */
class OpenVans {
  readonly #toMs: number
  readonly #gapMs: number
  /** Newest point of the chain that reaches the end of the range, by van. */
  readonly #chainMs = new Map<string, number>()

  constructor(toMs: number, gapMs: number) {
    this.#toMs = toMs
    this.#gapMs = gapMs
  }

  add({ rowCount, vans, van, eventMs }: PositionColumns): void {
    const times: number[][] = vans.map(() => [])
    for (let row = 0; row < rowCount; row += 1) times[van[row] ?? 0]?.push(eventMs[row] ?? 0)
    vans.forEach((name, index) => {
      let chainMs = this.#chainMs.get(name) ?? Number.NEGATIVE_INFINITY
      for (const ms of (times[index] ?? []).sort((a, b) => a - b)) {
        // After the range only what continues the chain counts; before its end the newest point does.
        if (ms < this.#toMs || ms - chainMs <= this.#gapMs) chainMs = Math.max(chainMs, ms)
        else break
      }
      if (chainMs !== Number.NEGATIVE_INFINITY) this.#chainMs.set(name, chainMs)
    })
  }

  /** Names of the vans whose chain may go on at or after `atMs`, up to which everything was read. */
  namesAt(atMs: number): string[] {
    return [...this.#chainMs].filter(([, ms]) => atMs - ms <= this.#gapMs).map(([name]) => name)
  }
}

/** Columns one after the other; names are numbered anew, in code-unit order. */
function joined(parts: readonly PositionColumns[]): PositionColumns {
  const vans = [...new Set(parts.flatMap((part) => part.vans))].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const numberOf = new Map(vans.map((name, index) => [name, index]))
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0)
  const all = {
    rowCount,
    vans,
    van: new Uint32Array(rowCount),
    eventMs: new Float64Array(rowCount),
    lat: new Float64Array(rowCount),
    lon: new Float64Array(rowCount),
    epoch: new Int32Array(rowCount),
    partition: new Int32Array(rowCount),
    offset: new Float64Array(rowCount),
  }
  let at = 0
  for (const part of parts) {
    const numbers = Uint32Array.from(part.vans, (name) => numberOf.get(name) ?? 0)
    for (let row = 0; row < part.rowCount; row += 1) all.van[at + row] = numbers[part.van[row] ?? 0] ?? 0
    for (const name of ['eventMs', 'lat', 'lon', 'epoch', 'partition', 'offset'] as const) all[name].set(part[name], at)
    at += part.rowCount
  }
  return all
}
