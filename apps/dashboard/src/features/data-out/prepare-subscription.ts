import type { Channel, DeliveryState, DeliveryView, EventKind, SubscriptionView } from '@km0/contracts/data-out'

/** What the form holds, as text. */
export interface SubscriptionForm {
  readonly name: string
  readonly channel: Channel
  readonly target: string
  readonly locale: SubscriptionView['locale']
  readonly kinds: readonly EventKind[]
  readonly leastStepMs: number
  readonly hasReport: boolean
  /** `HH:MM`. */
  readonly reportAt: string
  readonly depots: string
  readonly markets: string
}

export const EMPTY_FORM: SubscriptionForm = {
  ...{ name: '', channel: 'webhook', target: '', locale: 'ca', kinds: ['no-signal', 'returned', 'low-stock'], leastStepMs: 180_000 },
  ...{ hasReport: false, reportAt: '06:00', depots: '', markets: '' },
}

const listOf = (text: string) => {
  const values = text.split(',').map((part) => part.trim())
  const named = values.filter((value) => value !== '')
  return named.length === 0 ? null : named
}

/** Minutes after midnight of `HH:MM`; null for anything else. */
export function minutesOf(clock: string): number | null {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(clock) ?? []
  return hours === undefined || minutes === undefined ? null : Number(hours) * 60 + Number(minutes)
}

export function clockOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Body of POST /api/subscriptions. A folder gets the report and nothing else. */
export function subscriptionBody(form: SubscriptionForm): object {
  const isFolder = form.channel === 'folder'
  return {
    name: form.name,
    channel: form.channel,
    target: isFolder ? '' : form.target,
    locale: form.locale,
    kinds: isFolder ? [] : form.kinds,
    leastStepMs: form.leastStepMs,
    reportMinutes: isFolder || form.hasReport ? minutesOf(form.reportAt) : null,
    depots: listOf(form.depots),
    markets: listOf(form.markets),
  }
}

/** Whether the form can be sent: something goes to somebody. */
export function isComplete(form: SubscriptionForm): boolean {
  if (form.name.trim() === '') return false
  if (form.channel === 'folder') return minutesOf(form.reportAt) !== null
  return form.target.trim() !== '' && (form.hasReport ? minutesOf(form.reportAt) !== null : form.kinds.length > 0)
}

/** Deliveries in a state, newest first; null: all. */
export function deliveriesIn(deliveries: readonly DeliveryView[], state: DeliveryState | null): readonly DeliveryView[] {
  return state === null ? deliveries : deliveries.filter((delivery) => delivery.state === state)
}

export const EXPORTS = [
  { set: 'fleet', formats: ['csv', 'geojson'], byDepot: true },
  { set: 'no-signal', formats: ['csv', 'geojson'], byDepot: true },
  { set: 'distances', formats: ['csv', 'geojson'], byDepot: true },
  { set: 'stock', formats: ['csv'], byDepot: false },
  { set: 'days', formats: ['csv'], byDepot: false },
] as const

/** Address of an export; parts of the query that are '' are left out. */
export function exportPath(set: string, format: 'csv' | 'geojson', query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return `/api/${set}.${format}${text === '' ? '' : `?${text}`}`
}
