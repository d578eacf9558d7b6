/** Something that an advance of the watermark brings about. */
export interface Due {
  /** The instant at which it became due. */
  readonly atMs: number
  readonly owner: string
  /** Order among what one owner has due at one instant. */
  readonly rank: number
}

/** Order of emission: by instant, then owner in code-unit order, then rank. */
export function compareDue(a: Due, b: Due): number {
  if (a.atMs !== b.atMs) return a.atMs - b.atMs
  if (a.owner !== b.owner) return a.owner < b.owner ? -1 : 1
  return a.rank - b.rank
}

/** Code-unit order of two texts, for sort(). */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
