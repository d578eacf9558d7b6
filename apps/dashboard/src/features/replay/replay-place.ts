import { instantName, instantOf } from '../playback/instants.ts'

/** Where one is on the page; it stands in the address. */
export interface ReplayPlace {
  /** null: an hour ago. */
  readonly atMs: number | null
  readonly van: string | null
}

export function replayPlaceOf(given: Readonly<Record<string, string | string[] | undefined>>): ReplayPlace {
  const text = (name: string) => (typeof given[name] === 'string' && given[name] !== '' ? given[name] : null)
  return { atMs: instantOf(text('t') ?? ''), van: text('van') }
}

export function addressOfReplay({ atMs, van }: ReplayPlace): string {
  const query = new URLSearchParams()
  if (atMs !== null) query.set('t', instantName(atMs))
  if (van !== null) query.set('van', van)
  const text = query.toString()
  return text === '' ? '/reproduccio' : `/reproduccio?${text}`
}
