/** One thing that was judged. */
export interface Check {
  readonly name: string
  readonly passed: boolean
  /** What was counted; of a failed one what is wrong, with the first examples. */
  readonly detail: string
}

/** The first of a list, for a message. */
export function firstOf(items: readonly string[], shown = 3): string {
  return `${items.slice(0, shown).join('; ')}${items.length > shown ? '; …' : ''}`
}
