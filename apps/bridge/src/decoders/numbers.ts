const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/

/**
 * A finite number from a JSON member: a number, or text that is nothing but a decimal number (`"-41.9794"`). Some trackers quote
 * every number. No exponent, no sign `+`, no blanks, no comma, no hexadecimal; null for all else.
 */
export function strictNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : null
}

/** Members that are numbers, under their names on our wire, rounded to `decimals`; what is missing or no number is left out. */
export function furtherMembers(
  message: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, { readonly name: string; readonly factor?: number; readonly decimals: number }>>,
): Record<string, number> {
  const members: Record<string, number> = {}
  for (const [source, { name, factor, decimals }] of Object.entries(table)) {
    const number = strictNumber(message[source])
    if (number === null) continue
    const scale = 10 ** decimals
    const rounded = Math.round(number * (factor ?? 1) * scale) / scale
    if (Number.isFinite(rounded)) members[name] = rounded
  }
  return members
}
