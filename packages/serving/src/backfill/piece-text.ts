/** Text of COPY: rows as lines, values apart by tabs. */

const SPECIAL = /[\\\t\n\r]/g
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** A name as COPY takes it. */
export function copyText(text: string): string {
  return text.replace(SPECIAL, (character) => ESCAPES[character] ?? character)
}

const HOUR_MS = 3_600_000
const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS
/** Chunks are joined at this many lines, so that a piece is some large texts and not many small ones. */
const LINES_PER_CHUNK = 5_000

class Lines {
  readonly chunks: string[] = []
  #lines: string[] = []
  count = 0

  add(line: string): void {
    this.#lines.push(line)
    this.count += 1
    if (this.#lines.length >= LINES_PER_CHUNK) this.flush()
  }

  flush(): void {
    if (this.#lines.length > 0) this.chunks.push(this.#lines.join(''))
    this.#lines = []
  }
}

export type VersionTable = 'version_distance' | 'version_session' | 'version_travel' | 'version_alert'

/** The result rows of one piece, ready for COPY. */
export class PieceText {
  readonly #version: number
  readonly #lines = new Map<VersionTable, Lines>()
  readonly #days = new Map<VersionTable, Set<number>>()

  constructor(version: number) {
    this.#version = version
  }

  distance(
    van: string,
    startMs: number,
    endMs: number,
    row: { readonly distanceMm: number; readonly positions: number; readonly jumps: number; readonly displacementMm: number },
  ): void {
    const values = `${startMs}\t${endMs}\t${row.distanceMm}\t${row.positions}\t${row.jumps}\t${row.displacementMm}`
    this.#add('version_distance', hourOf(endMs - 1), van, values, endMs)
  }

  session(van: string, startMs: number, endMs: number, positions: number): void {
    this.#add('version_session', hourOf(startMs), van, `${startMs}\t${endMs}\t${positions}`, startMs)
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
    const values = `${row.distanceMm}\t${row.positions}\t${row.jumps}\t${row.jumpsMm}\t${row.gaps}\t${row.gapsMm}`
    this.#add('version_travel', hourMs, van, values, null)
  }

  alert(product: string, market: string, startMs: number, endMs: number, minimum: number, updates: number): void {
    this.#add('version_alert', hourOf(endMs - 1), product, `${copyText(market)}\t${startMs}\t${endMs}\t${minimum}\t${updates}`, startMs)
  }

  /** `timeMs` decides the partition. */
  #add(table: VersionTable, hourMs: number, name: string, values: string, timeMs: number | null): void {
    let lines = this.#lines.get(table)
    if (lines === undefined) {
      lines = new Lines()
      this.#lines.set(table, lines)
    }
    lines.add(`${this.#version}\t${hourMs}\t${copyText(name)}\t${values}\n`)
    if (timeMs === null) return
    const days = this.#days.get(table) ?? new Set()
    this.#days.set(table, days.add(Math.floor(timeMs / 86_400_000)))
  }

  /** UTC days (since 1970) of the rows of a table that has a partition a day. */
  days(table: VersionTable): ReadonlySet<number> {
    return this.#days.get(table) ?? new Set()
  }

  get rowCount(): number {
    return [...this.#lines.values()].reduce((sum, { count }) => sum + count, 0)
  }

  /** Chunks of text by table. */
  *texts(): Generator<readonly [VersionTable, readonly string[]]> {
    for (const [table, lines] of this.#lines) {
      lines.flush()
      yield [table, lines.chunks]
    }
  }
}
