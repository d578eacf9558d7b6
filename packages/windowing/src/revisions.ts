/** Rows already emitted for one window that is closed and not yet final. */
export interface EmittedRow<Row> {
  readonly endMs: number
  /** How many rows were emitted. */
  count: number
  /** The last of them. */
  last: Row
}

/**
 * What was emitted for the closed windows of one key, so that a revision is emitted only when the row differs, and knows its number.
 * Bounded by the allowed lateness: `forget` what is final.
 */
export class RevisionLedger<Row> {
  private rows: EmittedRow<Row>[] = []
  private readonly equal: (a: Row, b: Row) => boolean

  constructor(equal: (a: Row, b: Row) => boolean) {
    this.equal = equal
  }

  /** Notes that `row` is about to be emitted. Returns its revision number (0 for the first row), or -1 when the last row was the same. */
  emit(endMs: number, row: Row): number {
    const before = this.rows.find((emitted) => emitted.endMs === endMs)
    if (before === undefined) {
      this.rows.push({ endMs, count: 1, last: row })
      return 0
    }
    if (this.equal(before.last, row)) return -1
    before.last = row
    before.count += 1
    return before.count - 1
  }

  /** Drops what ends at or before `finalMs`. */
  forget(finalMs: number): void {
    if (this.rows.length > 0) this.rows = this.rows.filter((emitted) => emitted.endMs > finalMs)
  }

  /** Rows of windows that end after `finalMs`, by end. */
  after(finalMs: number): readonly Readonly<EmittedRow<Row>>[] {
    return this.rows.filter((emitted) => emitted.endMs > finalMs).sort((a, b) => a.endMs - b.endMs)
  }

  /** Puts rows of a snapshot back. */
  restore(rows: readonly Readonly<EmittedRow<Row>>[]): void {
    this.rows = rows.map(({ endMs, count, last }) => ({ endMs, count, last }))
  }
}
