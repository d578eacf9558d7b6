import { CountTable, placeKey } from './count-table.ts'

export interface SideCounts {
  /** What the rules say, by reason. */
  readonly expected: Readonly<Record<string, number>>
  /** What is in the topic, each source record once, by reason. */
  readonly found: Readonly<Record<string, number>>
  /** Expected and not there: of records that the job has not come to, and of others. */
  readonly pending: number
  readonly missing: number
  /** There although no rule says so. */
  readonly unexpected: number
  /** Records beyond the first of a source record: written again after a restart. */
  readonly again: number
}

const [EXPECTED, SETTLED, FOUND] = [0, 1, 2]

/** Compares a side output with what it should hold, by source record. */
export class SideTally {
  readonly #table = new CountTable(3)
  readonly #expected: Record<string, number> = {}
  readonly #found: Record<string, number> = {}
  #again = 0

  /** The rules send the record at this place there. `settled`: the job has applied it. */
  expect(partition: number, offset: number, reason: string, settled: boolean): void {
    const key = placeKey(partition, offset)
    this.#table.add(key, EXPECTED)
    if (settled) this.#table.add(key, SETTLED)
    this.#expected[reason] = (this.#expected[reason] ?? 0) + 1
  }

  /**
   * A record of the topic, with its source. `isOlder`: of an epoch before the one in force. What that wrote stands where it was not written
   * again (a savepoint was restored), and counts for nothing where other rules, or another log, have taken its place.
   */
  found(partition: number, offset: number, reason: string, isOlder = false): void {
    const key = placeKey(partition, offset)
    if (isOlder && this.#table.get(key, EXPECTED) === 0) return
    if (this.#table.get(key, FOUND) > 0) this.#again += 1
    else this.#found[reason] = (this.#found[reason] ?? 0) + 1
    this.#table.add(key, FOUND)
  }

  counts(): SideCounts {
    let [pending, missing, unexpected] = [0, 0, 0]
    this.#table.each((counts) => {
      if (counts[FOUND] === 0 && counts[SETTLED] === 0) pending += 1
      else if (counts[FOUND] === 0) missing += 1
      else if (counts[EXPECTED] === 0) unexpected += 1
    })
    return { expected: this.#expected, found: this.#found, pending, missing, unexpected, again: this.#again }
  }
}
