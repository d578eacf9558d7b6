import { CopyBytes } from './copy-bytes.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS

export type VersionTable = 'version_distance' | 'version_session' | 'version_travel' | 'version_alert'

/** Columns in the order in which `PieceRows` writes them. */
export const COPIED_COLUMNS: Readonly<Record<VersionTable, string>> = {
  version_distance: 'version, hour_ms, van, window_start_ms, window_end_ms, distance_mm, displacement_mm, positions, jumps',
  version_session: 'version, hour_ms, van, start_ms, end_ms, positions',
  version_travel: 'version, hour_ms, van, distance_mm, jumps_mm, gaps_mm, positions, jumps, gaps',
  version_alert: 'version, hour_ms, product, market, window_start_ms, window_end_ms, minimum, updates',
}

/** The result rows of one piece, ready for COPY. */
export class PieceRows {
  readonly #version: number
  readonly #tables = new Map<VersionTable, { readonly bytes: CopyBytes; readonly days: Set<number> }>()

  constructor(version: number) {
    this.#version = version
  }

  distance(
    van: string,
    startMs: number,
    endMs: number,
    row: { readonly distanceMm: number; readonly positions: number; readonly jumps: number; readonly displacementMm: number },
  ): void {
    const bytes = this.#begin('version_distance', 9, endMs, van)
    bytes.bigint(this.#version)
    bytes.bigint(hourOf(endMs - 1))
    bytes.text(van)
    bytes.bigint(startMs)
    bytes.bigint(endMs)
    bytes.bigint(row.distanceMm)
    bytes.bigint(row.displacementMm)
    bytes.integer(row.positions)
    bytes.integer(row.jumps)
  }

  session(van: string, startMs: number, endMs: number, positions: number): void {
    const bytes = this.#begin('version_session', 6, startMs, van)
    bytes.bigint(this.#version)
    bytes.bigint(hourOf(startMs))
    bytes.text(van)
    bytes.bigint(startMs)
    bytes.bigint(endMs)
    bytes.integer(positions)
  }

  travelHour(
    van: string,
    hourMs: number,
    row: {
      readonly distanceMm: number
      readonly positions: number
      readonly jumps: number
      readonly jumpsMm: number
      readonly gaps: number
      readonly gapsMm: number
    },
  ): void {
    const bytes = this.#begin('version_travel', 9, null, van)
    bytes.bigint(this.#version)
    bytes.bigint(hourMs)
    bytes.text(van)
    bytes.bigint(row.distanceMm)
    bytes.bigint(row.jumpsMm)
    bytes.bigint(row.gapsMm)
    bytes.integer(row.positions)
    bytes.integer(row.jumps)
    bytes.integer(row.gaps)
  }

  alert(product: string, market: string, startMs: number, endMs: number, minimum: number, updates: number): void {
    const bytes = this.#begin('version_alert', 8, startMs, product, market)
    bytes.bigint(this.#version)
    bytes.bigint(hourOf(endMs - 1))
    bytes.text(product)
    bytes.text(market)
    bytes.bigint(startMs)
    bytes.bigint(endMs)
    bytes.bigint(minimum)
    bytes.integer(updates)
  }

  /** `timeMs` decides the partition of a table that has one a day. */
  #begin(name: VersionTable, columns: number, timeMs: number | null, ...texts: readonly string[]): CopyBytes {
    let table = this.#tables.get(name)
    if (table === undefined) {
      table = { bytes: new CopyBytes(), days: new Set() }
      this.#tables.set(name, table)
    }
    if (timeMs !== null) table.days.add(Math.floor(timeMs / DAY_MS))
    table.bytes.row(columns, ...texts)
    return table.bytes
  }

  /** UTC days (since 1970) of the rows of a table that has a partition a day. */
  days(table: VersionTable): ReadonlySet<number> {
    return this.#tables.get(table)?.days ?? new Set()
  }

  get rowCount(): number {
    return [...this.#tables.values()].reduce((sum, { bytes }) => sum + bytes.rows, 0)
  }

  /** What COPY is to be sent, by table. */
  *copies(): Generator<readonly [VersionTable, readonly Buffer[]]> {
    for (const [table, { bytes }] of this.#tables) yield [table, bytes.chunks()]
  }
}
