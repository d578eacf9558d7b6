import type { PersonRole } from '@km0/contracts'

/** Who may ask: `open` is everybody, `any` whoever is signed in by a person's session, a wall screen's link or a token. */
export type Needs = 'open' | 'any' | 'person' | PersonRole

export interface Access {
  readonly needs: Needs
  /** `scoped`: the answer holds what the scope of whoever asks may see. `all`: only for those who see everything. `none`: it tells of no van. */
  readonly vans: 'scoped' | 'all' | 'none'
  /** Whoever sees pseudonyms gets them here: the answer has passed MaskingState, or tells of no van. Without it the route is refused to them. */
  readonly masks?: true
  /** A POST that changes nothing: not in the audit. */
  readonly looks?: true
}

const scoped = (needs: Needs): Access => ({ needs, vans: 'scoped' })
const masked = (needs: Needs): Access => ({ needs, vans: 'scoped', masks: true })
const all = (needs: Needs): Access => ({ needs, vans: 'all' })
const none = (needs: Needs): Access => ({ needs, vans: 'none' })

/**
 * Who may call each route. It is checked at the door, before any handler. A route that is not here is for administrators alone, and
 * access.test.ts fails; `scoped` ones are each tried there with somebody who may see one depot.
 */
export const ACCESS: Readonly<Record<string, Access>> = {
  // Probes and Prometheus have no session; bind to loopback, or let the proxy in front keep these two.
  'GET /health': none('open'),
  'GET /metrics': none('open'),

  'GET /api/session': none('open'),
  'POST /api/session': none('open'),
  'POST /api/session/renew': none('person'),
  'POST /api/session/leave': none('person'),
  'POST /api/session/password': none('person'),
  'GET /paret': none('open'),

  'GET /api/users': none('administrator'),
  'POST /api/users': none('administrator'),
  'POST /api/users/change': none('administrator'),
  'POST /api/users/link': none('administrator'),
  'POST /api/keys': none('administrator'),
  'POST /api/keys/revoke': none('administrator'),
  'GET /api/audit': none('administrator'),

  'GET /api/health': none('any'),
  'GET /api/panel': masked('any'),
  'GET /api/trail': masked('any'),
  'GET /api/outages': masked('any'),
  'POST /api/acknowledgements': scoped('dispatcher'),

  'GET /api/register': scoped('any'),
  'GET /api/register.csv': scoped('any'),
  'GET /api/zones.geojson': scoped('any'),
  'POST /api/register/preview': { ...all('administrator'), looks: true },
  'POST /api/register/import': all('administrator'),
  'POST /api/register/van': all('administrator'),
  'POST /api/register/depot': all('administrator'),
  'POST /api/register/market': all('administrator'),
  'POST /api/register/shifts': all('administrator'),
  'POST /api/register/remove': all('administrator'),
  'POST /api/mutes': scoped('dispatcher'),
  'POST /api/mutes/lift': scoped('dispatcher'),
  'GET /api/handover': scoped('any'),
  'GET /api/distances/totals': scoped('any'),

  'GET /api/stock': masked('any'),
  'GET /api/stock/history': masked('any'),
  'POST /api/stock/acknowledgements': scoped('dispatcher'),

  'GET /api/map/tiles.pmtiles': none('any'),
  'GET /api/trails': masked('any'),
  'GET /api/points': scoped('any'),
  'GET /api/van-day': scoped('any'),
  'GET /api/van-day/track': scoped('any'),
  'GET /api/replay': scoped('any'),
  'GET /api/replay/hour': scoped('any'),

  'GET /api/days': masked('any'),
  'GET /api/days.csv': masked('any'),
  'GET /api/days/van': masked('any'),

  'GET /api/fleet.csv': masked('any'),
  'GET /api/fleet.geojson': masked('any'),
  'GET /api/no-signal.csv': masked('any'),
  'GET /api/no-signal.geojson': masked('any'),
  'GET /api/distances.csv': masked('any'),
  'GET /api/distances.geojson': masked('any'),
  'GET /api/stock.csv': masked('any'),
  'GET /api/track.csv': masked('any'),
  'GET /api/track.geojson': masked('any'),
  'GET /api/events': masked('any'),
  'GET /api/openapi.json': none('any'),
  // A webhook carries data out of the house: people, not tokens, say where to.
  'GET /api/subscriptions': scoped('person'),
  'POST /api/subscriptions': scoped('dispatcher'),
  'POST /api/subscriptions/remove': scoped('dispatcher'),
  'POST /api/subscriptions/test': scoped('dispatcher'),
  'POST /api/deliveries/again': scoped('dispatcher'),
  'GET /api/operations': none('any'),

  'GET /api/ledger': all('any'),
  'POST /api/ledger': all('analyst'),
  'POST /api/ledger/cancel': all('analyst'),

  'GET /api/backfills': all('any'),
  'GET /api/backfills/one': all('any'),
  'GET /api/backfills/difference': all('any'),
  'GET /api/backfills/track': all('any'),
  'POST /api/backfills/preview': { ...all('analyst'), looks: true },
  'POST /api/backfills': all('analyst'),
  'POST /api/backfills/publish': all('analyst'),
  'POST /api/backfills/rollback': all('analyst'),
  'POST /api/backfills/cancel': all('analyst'),
}

/** Of a route that nobody declared. */
export const UNDECLARED: Access = all('administrator')
