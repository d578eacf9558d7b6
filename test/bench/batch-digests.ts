import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { type Lake, literal, ROW_KINDS, readPositions } from '@km0/lake'
import { positionsBatchInto } from '@km0/pipelines/positions/positions-columns'
import type { Serving } from '@km0/serving'
import { EVERYTHING, HOUR_MS } from './lake-day.ts'
import { ResultDigest } from './result-digest.ts'
import { RowColumns } from './row-columns.ts'

/** Whole hours, `[fromMs, toMs)`. */
export interface Range {
  readonly fromMs: number
  readonly toMs: number
}

/** Of all windows and sessions that the store serves for a range, as the panel reads them. Throws when one is of another version. */
export async function digestServed(serving: Serving, { fromMs, toMs }: Range, version: number): Promise<string> {
  const digests: string[] = []
  for (let hourMs = fromMs; hourMs < toMs; hourMs += HOUR_MS) {
    const digest = new ResultDigest()
    for (const row of await serving.readHour(hourMs)) {
      if (row.version !== version) throw new Error(`${row.key} is served by ${row.version ?? 'live'}, not by version ${version}`)
      digest.add(row.key, row.value)
    }
    digests.push(digest.digest())
  }
  return summed(digests)
}

/** Of the same range computed in this process at once: no pieces, no store. `parts`: how often the lake is read, for as many groups of vans. */
export async function digestInMemory(lake: Lake, range: Range, parts: number): Promise<string> {
  const found = await lake.use((connection) =>
    connection.all<{ van: string }>(`SELECT DISTINCT van FROM lake.positions WHERE kind = ${literal(ROW_KINDS.position)} ORDER BY van`),
  )
  const size = Math.ceil(found.length / parts)
  const digests: string[] = []
  for (let first = 0; first < found.length; first += size) {
    const vans = found.slice(first, first + size).map(({ van }) => van)
    const rows = new RowColumns()
    // Sessions that begin in the range may end behind it.
    const columns = await readPositions(lake, { ...EVERYTHING, vans })
    positionsBatchInto(columns, rows, DEFAULT_POSITIONS_SETTINGS, range)
    digests.push(rows.digest())
  }
  return summed(digests)
}

/** Digests are sums over rows: of disjoint rows they add up. */
function summed(digests: readonly string[]): string {
  const total: bigint[] = []
  for (const digest of digests)
    digest.split('/').forEach((part, index) => {
      total[index] = (total[index] ?? 0n) + BigInt(part)
    })
  return total.join('/')
}
