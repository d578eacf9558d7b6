import type { SourcePosition } from '@km0/contracts'
import type { ExpectedResults } from './verify-expected.ts'

/** A stored row, as the store gives it. */
export interface StoredRow {
  readonly key: string
  readonly value: Readonly<Record<string, string | number>>
  readonly source: SourcePosition
}

export interface Difference {
  readonly key: string
  readonly kind: 'missing' | 'unexpected' | 'different'
  readonly expected?: string
  readonly stored?: string
}

export interface Comparison {
  /** Rows that are equal, by kind of result. */
  readonly equal: Readonly<Record<string, number>>
  /** Rows of an earlier epoch, rows written after the replay's end, rows older than the log: not compared, and why. */
  readonly passedOver: Readonly<Record<'earlierEpoch' | 'newer' | 'beforeLog', number>>
  readonly differences: number
  /** The first of them, by key. */
  readonly first: readonly Difference[]
}

export interface CompareOptions {
  /** Offset at which the replay ended, by source partition. */
  readonly until: ReadonlyMap<number, number>
  readonly epoch: number
  readonly showFirst: number
}

/** Compares what is stored with what the log says. */
export async function compareResults(
  expected: ExpectedResults,
  stored: AsyncIterable<StoredRow>,
  options: CompareOptions,
): Promise<Comparison> {
  const equal: Record<string, number> = {}
  const passedOver = { earlierEpoch: 0, newer: 0, beforeLog: 0 }
  const differences: Difference[] = []
  const seen = new Set<string>()
  for await (const row of stored) {
    const wanted = expected.byKey.get(row.key)
    const why = reasonToPassOver(expected, row, wanted !== undefined, options)
    if (why !== null) {
      passedOver[why] += 1
      // A newer state has taken the place of the one that the replay knows.
      if (why !== 'earlierEpoch') seen.add(row.key)
      continue
    }
    seen.add(row.key)
    const text = JSON.stringify(row.value)
    if (wanted === undefined) differences.push({ key: row.key, kind: 'unexpected', stored: text })
    else if (text !== wanted.value) differences.push({ key: row.key, kind: 'different', expected: wanted.value, stored: text })
    else {
      const kind = kindOf(row.key)
      equal[kind] = (equal[kind] ?? 0) + 1
    }
  }
  for (const [key, { value, partition }] of expected.byKey) {
    if (seen.has(key)) continue
    if (!expected.isComparable({ partition }, startOf(JSON.parse(value) as StoredRow['value']))) passedOver.beforeLog += 1
    else differences.push({ key, kind: 'missing', expected: value })
  }
  differences.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return { equal, passedOver, differences: differences.length, first: differences.slice(0, options.showFirst) }
}

function reasonToPassOver(
  expected: ExpectedResults,
  { value, source }: StoredRow,
  isWanted: boolean,
  options: CompareOptions,
): 'earlierEpoch' | 'newer' | 'beforeLog' | null {
  if (source.epoch < options.epoch) return isWanted ? null : 'earlierEpoch'
  if (source.offset >= (options.until.get(source.partition) ?? 0)) return 'newer'
  return expected.isComparable(source, startOf(value)) ? null : 'beforeLog'
}

const kindOf = (key: string) => key.slice(0, key.indexOf('|'))

function startOf(value: StoredRow['value']): number {
  const start = value.inici_ms ?? value.des_de_ms
  return typeof start === 'number' ? start : Number.POSITIVE_INFINITY
}
