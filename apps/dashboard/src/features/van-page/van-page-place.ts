import { dayOfName, instantName, instantOf } from '../playback/instants.ts'

/** Where one is on the page; all of it stands in the address. */
export interface VanPagePlace {
  readonly van: string | null
  /** `YYYY-MM-DD` of Madrid; null: today. */
  readonly day: string | null
  /** The moment that is looked at; null: the newest, or the beginning of a day that is over. */
  readonly atMs: number | null
  /** End of the window that is asked about; without it none is. */
  readonly windowEndMs?: number
}

type Given = Readonly<Record<string, string | string[] | undefined>>

/** Reads the address. What cannot be read is left out; a moment outside the day too. */
export function vanPagePlaceOf(given: Given): VanPagePlace {
  const text = (name: string) => (typeof given[name] === 'string' && given[name] !== '' ? given[name] : null)
  const day = dayOfName(text('dia') ?? '') === null ? null : text('dia')
  const atMs = instantOf(text('t') ?? '')
  const span = day === null ? null : dayOfName(day)
  const isWithin = atMs !== null && (span === null || (atMs >= span.startMs && atMs < span.endMs))
  const windowEndMs = instantOf(text('finestra') ?? '')
  return { van: text('van'), day, atMs: isWithin ? atMs : null, ...(windowEndMs === null ? {} : { windowEndMs }) }
}

export function addressOfVanPage({ van, day, atMs, windowEndMs }: VanPagePlace): string {
  const query = new URLSearchParams()
  if (van !== null) query.set('van', van)
  if (day !== null) query.set('dia', day)
  if (atMs !== null) query.set('t', instantName(atMs))
  if (windowEndMs !== undefined) query.set('finestra', instantName(windowEndMs))
  return `/furgoneta?${query}`
}
