import type { BackfillDifference, DifferenceHour } from '@km0/contracts/backfill'

export interface OwnerDifference {
  readonly owner: string
  readonly added: number
  readonly removed: number
  readonly changed: number
  /** Of the hours that differ; null for what has no distance. */
  readonly beforeMm: number | null
  readonly afterMm: number | null
  readonly hours: readonly HourDifference[]
}

export interface HourDifference {
  readonly hourMs: number
  readonly added: number
  readonly removed: number
  readonly changed: number
  readonly beforeMm: number | null
  readonly afterMm: number | null
}

/** Owners by how much their distance changes, largest first; within one the hours in order, all kinds of result together. */
export function prepareDifference({ hours }: Pick<BackfillDifference, 'hours'>): OwnerDifference[] {
  const owners = new Map<string, Map<number, DifferenceHour[]>>()
  for (const hour of hours) {
    const own = owners.get(hour.owner) ?? new Map<number, DifferenceHour[]>()
    owners.set(hour.owner, own)
    own.set(hour.hourMs, [...(own.get(hour.hourMs) ?? []), hour])
  }
  const rows = [...owners].map(([owner, byHour]): OwnerDifference => {
    const of = [...byHour].sort(([a], [b]) => a - b).map(([hourMs, kinds]) => ({ hourMs, ...sumOf(kinds) }))
    return { owner, ...sumOf([...byHour.values()].flat()), hours: of }
  })
  const weight = (row: OwnerDifference) => Math.abs((row.afterMm ?? 0) - (row.beforeMm ?? 0))
  return rows.sort((a, b) => weight(b) - weight(a) || (a.owner < b.owner ? -1 : 1))
}

function sumOf(kinds: readonly DifferenceHour[]): Omit<HourDifference, 'hourMs'> {
  const sum = (of: (row: DifferenceHour) => number) => kinds.reduce((total, row) => total + of(row), 0)
  const distances = kinds.filter(({ kind }) => kind === 'travel')
  const has = (of: (row: DifferenceHour) => number | null) => distances.some((row) => of(row) !== null)
  return {
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
    changed: sum(({ changed }) => changed),
    beforeMm: has(({ beforeMm }) => beforeMm) ? distances.reduce((total, row) => total + (row.beforeMm ?? 0), 0) : null,
    afterMm: has(({ afterMm }) => afterMm) ? distances.reduce((total, row) => total + (row.afterMm ?? 0), 0) : null,
  }
}
