import { CountTable, textKey } from './count-table.ts'

/** Kinds of result row; the first part of a key. */
export const RESULT_KINDS = ['distancia', 'sessio', 'senyal'] as const
export type ResultKind = (typeof RESULT_KINDS)[number]

export interface ResultCounts {
  /** Keys that the rules emit in the span. */
  readonly expected: number
  /** Of these, in Kafka with a source in the span. */
  readonly found: number
  /** Only with a source behind the span: a newer row has taken their place. */
  readonly replaced: number
  readonly pending: number
  readonly missing: number
  readonly unexpected: number
  /** Found in Kafka, and again with a newer source: PostgreSQL has the newer one. */
  readonly superseded: number
  /** Found in Kafka behind what serving has stored. */
  readonly unstored: number
}

export type ResultsByKind = Readonly<Record<ResultKind, ResultCounts>>

const [EXPECTED, SETTLED, FOUND, NEWER, STORED] = [0, 1, 2, 3, 4]

/** Compares the keys of results in Kafka with those that the rules emit. */
export class ResultTally {
  readonly #tables: Readonly<Record<ResultKind, CountTable>> = {
    distancia: new CountTable(5),
    sessio: new CountTable(5),
    senyal: new CountTable(5),
  }

  /** The rules emit a row with this key in the span. `settled`: the job has applied its source. Throws for a key of no known kind. */
  expect(key: string, settled: boolean): void {
    const kind = resultKindOf(key)
    if (kind === null) throw new Error(`result ${key} is of no known kind`)
    this.#tables[kind].add(textKey(key), EXPECTED)
    if (settled) this.#tables[kind].add(textKey(key), SETTLED)
  }

  /** Whether the rules emit a row with this key in the span. */
  isExpected(key: string): boolean {
    const kind = resultKindOf(key)
    return kind !== null && this.#tables[kind].get(textKey(key), EXPECTED) > 0
  }

  /** A row in Kafka. `stored`: serving has come past it. `isOlder` as of SideTally.found. */
  found(key: string, place: 'in-span' | 'newer', stored: boolean, isOlder = false): void {
    const kind = resultKindOf(key)
    if (kind === null || (isOlder && !this.isExpected(key))) return
    const table = this.#tables[kind]
    if (place === 'newer') {
      if (table.has(textKey(key))) table.add(textKey(key), NEWER)
      return
    }
    table.add(textKey(key), FOUND)
    if (stored) table.add(textKey(key), STORED)
  }

  counts(): ResultsByKind {
    return { distancia: countsOf(this.#tables.distancia), sessio: countsOf(this.#tables.sessio), senyal: countsOf(this.#tables.senyal) }
  }
}

function countsOf(table: CountTable): ResultCounts {
  const counts = { expected: 0, found: 0, replaced: 0, pending: 0, missing: 0, unexpected: 0, superseded: 0, unstored: 0 }
  table.each((row) => {
    const isFound = row[FOUND]! > 0
    const isNewer = row[NEWER]! > 0
    if (row[EXPECTED]! > 0) counts.expected += 1
    else counts.unexpected += 1
    if (!isFound) {
      if (isNewer) counts.replaced += 1
      else if (row[SETTLED] === 0) counts.pending += 1
      else counts.missing += 1
      return
    }
    counts.found += 1
    if (isNewer) counts.superseded += 1
    else if (row[STORED] === 0) counts.unstored += 1
  })
  return counts
}

/** The kind of a result's key; null for a key of another kind. */
export function resultKindOf(key: string): ResultKind | null {
  const kind = key.slice(0, Math.max(0, key.indexOf('|')))
  return RESULT_KINDS.find((known) => known === kind) ?? null
}
