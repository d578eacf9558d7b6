import type { BackfillRequest } from '@km0/contracts/backfill'

const HOUR_MS = 3_600_000

/** Where one is on the page; it stands in the address: a version, or a backfill that is looked at before it is run. */
export type BackfillsPlace =
  | { readonly kind: 'version'; readonly id: number }
  | { readonly kind: 'preview'; readonly request: BackfillRequest }
  | { readonly kind: 'nothing' }

type Given = Readonly<Record<string, string | string[] | undefined>>

/** Reads the address. What cannot be read is nothing. */
export function backfillsPlaceOf(given: Given): BackfillsPlace {
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : '')
  if (/^\d{1,15}$/.test(text('versio'))) return { kind: 'version', id: Number(text('versio')) }
  const [fromMs, toMs] = [Number(text('de') || Number.NaN), Number(text('a') || Number.NaN)]
  const areHours = fromMs >= 0 && fromMs % HOUR_MS === 0 && toMs % HOUR_MS === 0 && fromMs < toMs
  if (!areHours) return { kind: 'nothing' }
  const owners = text('furgo').split(',').filter(Boolean)
  const pipeline = text('que') === 'stock' ? 'stock' : 'positions'
  return { kind: 'preview', request: { pipeline, fromMs, toMs, owners: owners.length === 0 ? null : owners } }
}

/** The address of a place. */
export function addressOf(place: BackfillsPlace): string {
  if (place.kind === 'nothing') return '/recalculs'
  if (place.kind === 'version') return `/recalculs?versio=${place.id}`
  const { pipeline, fromMs, toMs, owners } = place.request
  const query = new URLSearchParams({ de: String(fromMs), a: String(toMs) })
  if (pipeline === 'stock') query.set('que', 'stock')
  if (owners !== null) query.set('furgo', owners.join(','))
  return `/recalculs?${query}`
}
