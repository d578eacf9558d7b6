import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { type ColumnRoom, type PositionColumns, readInto, roomFor, selectedColumns, streamInto } from './read-positions.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, onEventDays, POSITIONS } from './tables.ts'

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
  /** With `vans`: about how many points they have in the range; else they are counted. */
  readonly expectedRows?: number
  /** Version of the lake that is read throughout; a run that is tried again reads the same. */
  readonly snapshot: number
  /** How much is read at first beyond the range at most, for sessions that go on; then four times as much each time. Default 1 h. */
  readonly stepMs?: number
}

/**
 * The points that a batch run over a range needs, and few more: those from `needsFromMs`, of each van at least the last one before, and those
 * after the range up to the first gap that ends at or after its end. So sessions that begin in the range are whole.
 */
export async function readBatchInput(lake: Lake, query: BatchInputQuery): Promise<PositionColumns> {
  return lake.use((connection) => connection.transaction(() => readAll(connection, query)))
}

async function readAll(connection: LakeConnection, query: BatchInputQuery): Promise<PositionColumns> {
  const { fromMs, toMs, needsFromMs, sessionGapMs, snapshot, stepMs = 3_600_000 } = query
  // A little of both sides comes along with the range, where it costs next to nothing: most vans have their neighbours there.
  const besideMs = Math.ceil(Math.min(stepMs, Math.max(sessionGapMs + 1, (toMs - fromMs) / 12)))
  const whole = {
    fromMs: needsFromMs - besideMs,
    toMs: toMs + besideMs,
    snapshot,
    ...(query.vans === undefined ? {} : { vans: query.vans }),
    ...(query.expectedRows === undefined ? {} : { expectedRows: Math.ceil(query.expectedRows * 1.5) + 65_536 }),
  }
  const room = await roomFor(connection, whole)
  await readInto(connection, room, whole)
  await readLastBefore(connection, query, room, whole.fromMs)
  const open = new OpenVans(toMs, sessionGapMs)
  open.add(room.taken(), 0)
  // A step longer than a gap without a point ends every chain.
  let lookMs = 4 * Math.max(stepMs, sessionGapMs + 1)
  for (let atMs = whole.toMs; ; lookMs *= 4) {
    const vans = open.namesAt(atMs)
    if (vans.length === 0) return room.taken()
    const before = room.rowCount
    await readInto(connection, room, { fromMs: atMs, toMs: atMs + lookMs, snapshot, vans })
    open.add(room.taken(), before)
    atMs += lookMs
  }
}

/** Adds of each van the last point before `needsFromMs`; of equal times all. Points from `readFromMs` on are there. */
async function readLastBefore(connection: LakeConnection, query: BatchInputQuery, room: ColumnRoom, readFromMs: number): Promise<void> {
  const { needsFromMs, maxGapMs, snapshot } = query
  let missing = namesWithoutPointBefore(room.taken(), needsFromMs)
  let toMs = readFromMs
  // Most vans have one near: rows of old days need not be read then.
  for (const backMs of [86_400_000, maxGapMs]) {
    const fromMs = needsFromMs - Math.min(backMs, maxGapMs)
    if (missing.length === 0 || fromMs >= toMs) continue
    const before = room.rowCount
    await streamInto(connection, room, lastWithin(snapshot, missing, fromMs, toMs))
    const { van, vans } = room.taken()
    const found = new Set(Array.from(van.subarray(before), (number) => vans[number]))
    missing = missing.filter((name) => !found.has(name))
    toMs = fromMs
  }
}

/** Vans that have a point, but none before `atMs`. */
function namesWithoutPointBefore({ rowCount, vans, van, eventMs }: PositionColumns, atMs: number): string[] {
  const [before, after] = [new Uint8Array(vans.length), new Uint8Array(vans.length)]
  for (let row = 0; row < rowCount; row += 1) (eventMs[row]! < atMs ? before : after)[van[row]!] = 1
  return vans.filter((_, index) => before[index] === 0 && after[index] === 1)
}

function lastWithin(snapshot: number, vans: readonly string[], fromMs: number, toMs: number): string {
  const source = `${LAKE}.${identifier(POSITIONS.name)} AT (VERSION => ${Math.trunc(snapshot)})`
  const where = `kind = '${ROW_KINDS.position}' AND van IN (${vans.map(literal).join(', ')})
    AND ${onEventDays(dayOf(fromMs), dayOf(toMs))}
    AND event_ms >= ${Math.trunc(fromMs)} AND event_ms < ${Math.trunc(toMs)}`
  return `WITH last AS (SELECT van, max(event_ms) AS event_ms FROM ${source} WHERE ${where} GROUP BY van)
    SELECT ${selectedColumns} FROM ${source} SEMI JOIN last USING (van, event_ms) WHERE ${where}`
}

/** Vans whose points go on, without a gap, from within the range to where it was read. */
class OpenVans {
  readonly #toMs: number
  readonly #gapMs: number
  /** Newest point of the chain that reaches the end of the range, by van. */
  #chainMs: { readonly name: string; ms: number }[] = []

  constructor(toMs: number, gapMs: number) {
    this.#toMs = toMs
    this.#gapMs = gapMs
  }

  /** Adds the rows from `first` on of columns that always name the same vans. */
  add({ rowCount, vans, van, eventMs }: PositionColumns, first: number): void {
    if (this.#chainMs.length === 0) this.#chainMs = vans.map((name) => ({ name, ms: Number.NEGATIVE_INFINITY }))
    const beyond: number[][] = vans.map(() => [])
    for (let row = first; row < rowCount; row += 1) {
      const ms = eventMs[row]!
      const number = van[row]!
      if (ms >= this.#toMs) beyond[number]!.push(ms)
      else if (ms > this.#chainMs[number]!.ms) this.#chainMs[number]!.ms = ms
    }
    this.#chainMs.forEach((chain, number) => {
      for (const ms of beyond[number]!.sort((a, b) => a - b)) {
        // After the range only what continues the chain counts.
        if (ms - chain.ms > this.#gapMs) break
        chain.ms = Math.max(chain.ms, ms)
      }
    })
  }

  /** Names of the vans whose chain may go on at or after `atMs`, up to which everything was read. */
  namesAt(atMs: number): string[] {
    return this.#chainMs.filter(({ ms }) => atMs - ms <= this.#gapMs).map(({ name }) => name)
  }
}
