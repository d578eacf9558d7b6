import { z } from 'zod'
import { cancelBody as cancelBackfill, previewBody, publishBody, rollBackBody, runBody } from '../backfills/backfills-rest.ts'
import { liftBody, muteBody } from '../dispatch/dispatch-rest.ts'
import { depotBody, marketBody, removeBody, shiftsBody } from '../dispatch/register-forms-rest.ts'
import { importBody, vanBody } from '../dispatch/register-rest.ts'
import { askBody, cancelBody as cancelLedger } from '../ledger/ledger-rest.ts'
import { acknowledgementBody } from '../rest.ts'
import { passwordBody, signInBody } from '../sign-in/sign-in-rest.ts'
import { addBody, changeBody, keyBody, linkBody, revokeBody } from '../sign-in/users-rest.ts'
import { acknowledgementBody as stockAcknowledgementBody } from '../stock/stock-rest.ts'
import { idBody, subscriptionBody } from './subscriptions-rest.ts'

/** What the description of the interface says of a route, besides who may call it. */
export interface RouteDoc {
  readonly summary: string
  /** Parameters of the query, by name; `!` at its end: it must be there. */
  readonly query?: Readonly<Record<string, string>>
  /** The schema by which the body is parsed. */
  readonly body?: z.ZodType
  /** Default `json`. */
  readonly answer?: 'json' | 'csv' | 'geojson' | 'events' | 'text' | 'binary' | 'redirect'
  /** Of a good answer. Default 200. */
  readonly status?: number | readonly number[]
}

const DAY = 'YYYY-MM-DD, a day of Europe/Madrid'
const MS = 'milliseconds since 1970'
const BOM = '1: led by a byte order mark, for spreadsheets'
const FILTER = { depot: 'depots, with commas', van: 'vans, with commas', state: 'states as the answer has them, with commas' }
const emptyBody = z.strictObject({})

/** By method and path, as ACCESS has them. */
export const ROUTE_DOCS: Readonly<Record<string, RouteDoc>> = {
  'GET /health': { summary: 'How the panel and what it stands on is; 503 when down' },
  'GET /metrics': { summary: 'Metrics for Prometheus', answer: 'text' },
  'GET /api/session': { summary: 'Who is signed in' },
  'POST /api/session': { summary: 'Sign in by link, or by e-mail and password', body: signInBody },
  'POST /api/session/renew': { summary: 'Make the session last longer', body: emptyBody },
  'POST /api/session/leave': { summary: 'Sign out', body: emptyBody },
  'POST /api/session/password': { summary: 'Choose a password', body: passwordBody },
  'GET /paret': { summary: 'Open a wall screen by its link', query: { 'clau!': 'key of the link' }, answer: 'redirect', status: 303 },
  'GET /api/users': { summary: 'Users, tokens and wall links' },
  'POST /api/users': { summary: 'Invite a user', body: addBody, status: 201 },
  'POST /api/users/change': { summary: 'Change a user', body: changeBody },
  'POST /api/users/link': { summary: 'A new sign-in link for a user', body: linkBody },
  'POST /api/keys': { summary: 'A new token, or link of a wall screen; told once', body: keyBody, status: 201 },
  'POST /api/keys/revoke': { summary: 'Revoke a token or a link', body: revokeBody },
  'GET /api/audit': {
    summary: 'Who did what',
    query: { before: 'number of an entry: those before it', actor: 'part of a name', action: 'which action' },
  },
  'GET /api/health': { summary: 'As /health' },
  'GET /api/panel': { summary: 'All that the live page shows: vans, signals, distances, feed' },
  'GET /api/trail': { summary: 'The last 15 minutes of a van', query: { 'van!': 'name' } },
  'GET /api/trails': { summary: 'The last 15 minutes of every van' },
  'GET /api/points': { summary: 'Raw, accepted and refused points of the last minutes of a van', query: { 'van!': 'name' } },
  'GET /api/map/tiles.pmtiles': { summary: "The customer's own map tiles, in ranges", answer: 'binary', status: 206 },
  'GET /api/outages': { summary: 'Outages of the platform, and silences that do and do not overlap them', query: { from: MS, to: MS } },
  'POST /api/acknowledgements': { summary: 'Acknowledge the silence of a van', body: acknowledgementBody, status: 201 },
  'GET /api/register': { summary: 'Vans, depots, markets and shifts' },
  'GET /api/register.csv': { summary: 'The register as its import takes it', query: { 'kind!': 'which table' }, answer: 'csv' },
  'GET /api/zones.geojson': { summary: 'Zones of the markets', answer: 'geojson' },
  'POST /api/register/preview': { summary: 'What importing a file would do', body: importBody },
  'POST /api/register/import': { summary: 'Import a file: all of its lines, or none; 200 when none', body: importBody, status: [201, 200] },
  'POST /api/register/van': { summary: 'Put one van into the register', body: vanBody, status: 201 },
  'POST /api/register/depot': { summary: 'Put one depot into the register', body: depotBody, status: 201 },
  'POST /api/register/market': { summary: 'Put one market into the register, with its zone', body: marketBody, status: 201 },
  'POST /api/register/shifts': { summary: 'The whole calendar of one depot; without shifts it has none', body: shiftsBody, status: 201 },
  'POST /api/register/remove': {
    summary: 'Take a depot without vans, or a market that no depot serves, out of the register',
    body: removeBody,
  },
  'POST /api/mutes': { summary: 'Mute a van or a depot', body: muteBody, status: 201 },
  'POST /api/mutes/lift': { summary: 'Lift a mute', body: liftBody },
  'GET /api/handover': { summary: 'What changed since a time', query: { from: `HH:MM, or ${MS}` } },
  'GET /api/distances/totals': { summary: 'Distance of each van in this hour and today' },
  'GET /api/stock': { summary: 'Low stock now, and of the last day' },
  'GET /api/stock/history': { summary: 'The last day of a product in a market', query: { 'product!': 'name', 'market!': 'name' } },
  'POST /api/stock/acknowledgements': { summary: 'Acknowledge low stock', body: stockAcknowledgementBody, status: 201 },
  'GET /api/days': { summary: 'Distances by van and day', query: { last: DAY, days: '1 to 31' } },
  'GET /api/days.csv': { summary: 'The same as CSV', query: { last: DAY, days: '1 to 31', bom: BOM }, answer: 'csv' },
  'GET /api/days/van': { summary: 'One van on one day, by hour', query: { 'van!': 'name', 'day!': DAY } },
  'GET /api/fleet.csv': { summary: 'Every van with its newest point', query: { ...FILTER, bom: BOM }, answer: 'csv' },
  'GET /api/fleet.geojson': { summary: 'The same as GeoJSON', query: FILTER, answer: 'geojson' },
  'GET /api/no-signal.csv': { summary: 'Vans without signal, oldest silence first', query: { ...FILTER, bom: BOM }, answer: 'csv' },
  'GET /api/no-signal.geojson': { summary: 'The same as GeoJSON', query: FILTER, answer: 'geojson' },
  'GET /api/distances.csv': { summary: 'Newest closed window of each van', query: { ...FILTER, bom: BOM }, answer: 'csv' },
  'GET /api/distances.geojson': { summary: 'The same as GeoJSON', query: FILTER, answer: 'geojson' },
  'GET /api/stock.csv': { summary: 'Low stock of the last day', query: { market: 'name', bom: BOM }, answer: 'csv' },
  'GET /api/track.csv': { summary: 'Where a van was on a day', query: { 'van!': 'name', day: DAY, bom: BOM }, answer: 'csv' },
  'GET /api/track.geojson': { summary: 'The same as one line', query: { 'van!': 'name', day: DAY }, answer: 'geojson' },
  'GET /api/events': {
    summary: 'Events as they are found (server-sent events); the header Last-Event-ID goes on after one',
    query: { after: 'as Last-Event-ID', since: `${MS}; without it only what comes`, kinds: 'kinds of event, with commas' },
    answer: 'events',
  },
  'GET /api/openapi.json': { summary: 'This description' },
  'GET /api/subscriptions': { summary: 'Who gets events and reports, and what became of each delivery' },
  'POST /api/subscriptions': { summary: 'Subscribe a webhook, mail addresses or a folder', body: subscriptionBody, status: 201 },
  'POST /api/subscriptions/remove': { summary: 'Take a subscription away', body: idBody },
  'POST /api/subscriptions/test': { summary: 'Send a test to a subscription', body: idBody, status: 202 },
  'POST /api/deliveries/again': { summary: 'Send a delivery again', body: idBody, status: 202 },
  'GET /api/operations': { summary: 'How the platform is: services, partitions, lateness' },
  'GET /api/ledger': { summary: 'Ledgers, and the report of one', query: { run: 'number' } },
  'POST /api/ledger': { summary: 'Ask for a ledger of a span', body: askBody, status: 201 },
  'POST /api/ledger/cancel': { summary: 'Stop a ledger', body: cancelLedger },
  'GET /api/backfills': { summary: 'Versions, publications, nights and what is dirty' },
  'GET /api/backfills/one': { summary: 'One version', query: { 'id!': 'number' } },
  'GET /api/backfills/difference': { summary: 'A version beside what is served', query: { 'id!': 'number' } },
  'GET /api/backfills/track': {
    summary: 'Points that were missing',
    query: { 'id!': 'number', 'van!': 'name', 'fromMs!': MS, 'toMs!': MS },
  },
  'POST /api/backfills/preview': { summary: 'What a backfill would do', body: previewBody },
  'POST /api/backfills': { summary: 'Run a backfill', body: runBody, status: 202 },
  'POST /api/backfills/publish': { summary: 'Publish a version', body: publishBody },
  'POST /api/backfills/rollback': { summary: 'Take a publication back', body: rollBackBody },
  'POST /api/backfills/cancel': { summary: 'Stop a backfill', body: cancelBackfill },
  'GET /api/van-day': { summary: 'One van on one day, as its page shows it', query: { 'van!': 'name', day: DAY } },
  'GET /api/van-day/track': { summary: 'Its points, packed', query: { 'van!': 'name', day: DAY }, answer: 'binary' },
  'GET /api/replay': { summary: 'The register and our outages of a span of at most 26 hours', query: { 'from!': MS, 'to!': MS } },
  'GET /api/replay/hour': { summary: 'An hour of the fleet, packed', query: { 'from!': `${MS}, a whole hour` }, answer: 'binary' },
}
