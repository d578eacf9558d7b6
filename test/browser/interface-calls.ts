import { EVERYTHING } from '@km0/contracts'

/** How each route of the interface is called in a test: its query, or its body. */
export interface Call {
  readonly query?: string
  readonly body?: object
}

/** Routes that answer JSON, in the order in which they may be called with a van that is heard. Streams and packed answers are not among them. */
export function interfaceCalls(van: string, day: string, nowMs: number): readonly (readonly [route: string, call: Call])[] {
  const span = `fromMs=${nowMs - 3_600_000}&toMs=${nowMs}`
  const depot = { id: 'proves', name: 'Proves', lat: 41.9, lon: 2.8, markets: ['proves'], shiftStart: null, shiftEnd: null }
  const ring = [
    [2, 41],
    [3, 41],
    [3, 42],
    [2, 41],
  ]
  return [
    ...['health', 'session', 'users', 'audit', 'panel', 'trails', 'outages', 'register', 'handover', 'distances/totals'].map(get),
    ...['stock', 'days', 'openapi.json', 'subscriptions', 'operations', 'ledger', 'backfills'].map(get),
    ...['fleet.geojson', 'no-signal.geojson', 'distances.geojson', 'zones.geojson'].map(get),
    ['GET /health', {}],
    ...['trail', 'points', 'van-day', 'track.geojson'].map((name) => get(name, { query: `?van=${van}` })),
    get('days/van', { query: `?van=${van}&day=${day}` }),
    get('stock/history', { query: '?product=pa&market=girona' }),
    get('replay', { query: `?from=${nowMs - 3_600_000}&to=${nowMs}` }),
    get('backfills/one', { query: '?id=1' }),
    get('backfills/difference', { query: '?id=1' }),
    get('backfills/track', { query: `?id=1&van=${van}&${span}` }),
    post('session/renew', {}),
    post('acknowledgements', { van, sinceMs: nowMs, note: 'prova' }),
    post('mutes', { kind: 'van', subject: van, untilMs: null, note: 'prova' }),
    get('handover', {}),
    post('mutes/lift', { id: 1 }),
    post('register/preview', { kind: 'vans', csv: 'van\nfurgoneta-900\n' }),
    post('register/import', { kind: 'vans', csv: 'van\n"\n' }),
    post('register/import', { kind: 'vans', csv: 'van\nfurgoneta-900\n' }),
    post('register/market', { id: 'proves', name: 'Proves', zone: { type: 'Polygon', coordinates: [ring] } }),
    post('register/depot', depot),
    post('register/shifts', { depotId: 'proves', shifts: [{ day: 'mon', start: '06:00', end: '14:00' }] }),
    post('register/van', { van: 'furgoneta-900', name: '900', plate: null, depotId: null, inServiceFrom: null, inServiceTo: null }),
    get('register', {}),
    get('zones.geojson', {}),
    post('register/remove', { kind: 'depots', id: 'proves' }),
    post('stock/acknowledgements', { product: 'pa', market: 'girona', startMs: nowMs, note: '' }),
    post('subscriptions', { name: 'prova', channel: 'webhook', target: 'https://example.com/', kinds: ['returned'] }),
    get('subscriptions', {}),
    post('subscriptions/test', { id: 1 }),
    post('subscriptions/remove', { id: 1 }),
    post('deliveries/again', { id: 1 }),
    post('ledger', { fromMs: nowMs - 1_200_000, toMs: nowMs - 600_000 }),
    get('ledger', {}),
    post('ledger/cancel', { id: 1 }),
    post('users', { email: 'prova@example.cat', name: 'Prova', role: 'dispatcher', scope: EVERYTHING }),
    post('users/link', { id: 'nobody' }),
    post('keys', { kind: 'token', name: 'prova', scope: EVERYTHING }),
    get('users', {}),
    post('keys/revoke', { id: 1 }),
    post('backfills/publish', { id: 1, reason: 'prova' }),
    post('backfills/rollback', { publication: 1, reason: 'prova' }),
    post('backfills/cancel', { id: 1 }),
  ]
}

const get = (name: string, call: Call | number = {}) => [`GET /api/${name}`, typeof call === 'number' ? {} : call] as const
const post = (name: string, body: object) => [`POST /api/${name}`, { body }] as const
