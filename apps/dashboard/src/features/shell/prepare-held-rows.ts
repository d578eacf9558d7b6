/** A row as it is shown: `gone` while it is no longer in the list but kept in its place, under somebody's pointer. */
export interface HeldRow<Row> {
  readonly row: Row
  readonly gone: boolean
}

/**
 * Rows in the order to show. Free: the list as it is. Held (a pointer or the focus is in the list): those that were shown keep their places,
 * with new contents; those that left stay, marked; new ones go to the end. So nothing moves under the pointer that is about to click.
 */
export function holdRows<Row extends { readonly key: string }>(
  shown: readonly HeldRow<Row>[],
  rows: readonly Row[],
  held: boolean,
): readonly HeldRow<Row>[] {
  if (!held) return rows.map((row) => ({ row, gone: false }))
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const kept = shown.map(({ row }) => {
    const now = byKey.get(row.key)
    return now === undefined ? { row, gone: true } : { row: now, gone: false }
  })
  const keys = new Set(shown.map(({ row }) => row.key))
  return [...kept, ...rows.filter((row) => !keys.has(row.key)).map((row) => ({ row, gone: false }))]
}
