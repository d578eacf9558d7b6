/** What became of a try. `refused`: it would be refused again however often it is tried. */
export type Outcome =
  | { readonly kind: 'taken'; readonly answer: string }
  | { readonly kind: 'later'; readonly answer: string }
  | { readonly kind: 'refused'; readonly answer: string }

/** Longest answer that is kept. */
const ANSWER_MAX_CHARACTERS = 300

/** Words of others, as they are kept: one line, not too long. */
export function shortAnswer(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > ANSWER_MAX_CHARACTERS ? `${line.slice(0, ANSWER_MAX_CHARACTERS)}…` : line
}

export const wordsOf = (error: unknown) => shortAnswer(error instanceof Error ? error.message || error.name : String(error))
