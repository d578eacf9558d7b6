/** Where one is on the page; all of it stands in the address, so that it can be sent to somebody. Days are `YYYY-MM-DD`. */
export interface DaysPlace {
  /** Last day of the table; null: today. */
  readonly last: string | null
  /** The cell that is explained. */
  readonly van: string | null
  readonly day: string | null
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Reads the address. What is not a day is left out. */
export function daysPlaceOf(given: Readonly<Record<string, string | string[] | undefined>>): DaysPlace {
  const text = (name: string) => (typeof given[name] === 'string' && given[name] !== '' ? given[name] : null)
  const day = (name: string) => (DAY.test(text(name) ?? '') ? text(name) : null)
  const [van, chosen] = [text('furgo'), day('dia')]
  return van === null || chosen === null ? { last: day('fins'), van: null, day: null } : { last: day('fins'), van, day: chosen }
}
