import type { DayCell, DayCertificates, DaysView, DayVan } from '@km0/contracts/days-panel'

/** Column by which the table is sorted: the van's name, the total, or a day by its beginning. */
export type SortKey = 'van' | 'total' | number

export interface Sorting {
  readonly by: SortKey
  readonly descending: boolean
}

export interface DayTableCell {
  readonly dayMs: number
  /** null: nothing is known of the van on this day, which is not the same as 0 km. */
  readonly distanceMm: number | null
  /** Late points that are not in it. */
  readonly late: number
  /** Versions that are served, in order; empty for live rows alone. */
  readonly versions: readonly number[]
}

export interface DayTableRow {
  readonly van: DayVan
  readonly cells: readonly DayTableCell[]
  readonly totalMm: number | null
}

export interface DayTable {
  readonly rows: readonly DayTableRow[]
  readonly totals: readonly { readonly dayMs: number; readonly distanceMm: number | null; readonly late: number }[]
  readonly totalMm: number | null
  readonly late: number
}

/** The rows of the table: vans that the search finds, in the order that was asked for. Unknown days come last, whichever way. */
export function prepareDays(view: DaysView, search: string, sorting: Sorting): DayTable {
  const cells = groupBy(view.cells, (cell) => `${cell.van}|${cell.dayMs}`)
  const late = new Map(view.late.map((row) => [`${row.van}|${row.dayMs}`, row.tard + row.parcial]))
  const words = plain(search).split(/\s+/).filter(Boolean)
  const rows = view.vans
    .filter((van) => words.every((word) => plain(`${van.van} ${van.name ?? ''} ${van.plate ?? ''} ${van.depot ?? ''}`).includes(word)))
    .map((van): DayTableRow => {
      const own = view.days.map(({ startMs }) =>
        cellOf(cells.get(`${van.van}|${startMs}`), startMs, late.get(`${van.van}|${startMs}`) ?? 0),
      )
      return { van, cells: own, totalMm: sumOf(own.map(({ distanceMm }) => distanceMm)) }
    })
  const totals = view.days.map(({ startMs }, index) => ({
    dayMs: startMs,
    distanceMm: sumOf(rows.map((row) => row.cells[index]?.distanceMm ?? null)),
    late: rows.reduce((sum, row) => sum + (row.cells[index]?.late ?? 0), 0),
  }))
  return {
    rows: sortRows(rows, sorting),
    totals,
    totalMm: sumOf(totals.map(({ distanceMm }) => distanceMm)),
    late: totals.reduce((sum, day) => sum + day.late, 0),
  }
}

/** What is known of a day's certificates: the worst result, and of how many hours. */
export function certificateOf(
  certificates: readonly DayCertificates[],
  dayMs: number,
): { result: 'equal' | 'explained' | 'different'; hours: number } | null {
  const found = certificates.find((row) => row.dayMs === dayMs)
  if (found === undefined) return null
  const hours = found.equal + found.explained + found.different
  return { result: found.different > 0 ? 'different' : found.explained > 0 ? 'explained' : 'equal', hours }
}

function cellOf(found: readonly DayCell[] | undefined, dayMs: number, late: number): DayTableCell {
  const cell = found?.[0]
  return { dayMs, distanceMm: cell?.distanceMm ?? null, late, versions: cell?.versions ?? [] }
}

function sortRows(rows: DayTableRow[], { by, descending }: Sorting): DayTableRow[] {
  if (by === 'van') return descending ? rows.reverse() : rows
  const sortedBy = (row: DayTableRow) => (by === 'total' ? row.totalMm : (row.cells.find(({ dayMs }) => dayMs === by)?.distanceMm ?? null))
  return rows.sort((a, b) => {
    const [one, other] = [sortedBy(a), sortedBy(b)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return descending ? other - one : one - other
  })
}

/** null when nothing is known of any. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

/** Without accents and capitals, as people type. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
