import type {
  AccessKeyView,
  AcknowledgementView,
  AuditPage,
  BackfillDifferenceView,
  BackfillOneView,
  BackfillPreview,
  BackfillsView,
  BackfillTrackView,
  DataOutView,
  DaysView,
  DayView,
  Depot,
  HandOverView,
  HealthReport,
  ImportView,
  LedgerRunView,
  LedgerView,
  LinkView,
  Market,
  MuteView,
  NewKeyView,
  OperationsView,
  OutagesView,
  PanelError,
  PanelSnapshot,
  PlatformEvent,
  RecentPointsView,
  RegisteredVan,
  RegisterView,
  ReplayView,
  SessionView,
  Shift,
  StockAcknowledgementView,
  StockHistoryView,
  StockSnapshot,
  SubscriptionView,
  TrailsView,
  TrailView,
  TravelTotalsView,
  UsersView,
  UserView,
  VanDayView,
  ZonesView,
} from '@km0/contracts'
import type { Published } from '@km0/serving'

/** Names what it was about. */
interface Numbered {
  readonly id: number
}

/** RFC 7946: a point for each row that has a place, its other columns as properties. */
interface PointsGeoJson {
  readonly type: 'FeatureCollection'
  readonly features: readonly {
    readonly type: 'Feature'
    readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly [lon: number, lat: number] } | null
    readonly properties: Readonly<Record<string, string | number | null>>
  }[]
}

/** RFC 7946: one line, with the time of each of its points. */
interface TrackGeoJson {
  readonly type: 'FeatureCollection'
  readonly features: readonly {
    readonly type: 'Feature'
    readonly geometry: { readonly type: 'LineString'; readonly coordinates: readonly (readonly [lon: number, lat: number])[] } | null
    readonly properties: { readonly van: string; readonly coordTimes: readonly string[] }
  }[]
}

/** What each route answers in JSON. Descriptions and the schemas of the interface are made from it: scripts/answers.mjs. */
export interface Answers {
  'GET /health': HealthReport
  'GET /api/health': HealthReport
  'GET /api/session': SessionView
  'POST /api/session': SessionView
  'POST /api/session/renew': { readonly nowMs: number; readonly expiresAtMs: number | null }
  'POST /api/session/leave': SessionView
  'POST /api/session/password': Readonly<Record<string, never>>
  'GET /api/users': UsersView
  'POST /api/users': { readonly user: UserView; readonly link: LinkView }
  'POST /api/users/change': UserView
  'POST /api/users/link': LinkView
  'POST /api/keys': NewKeyView
  'POST /api/keys/revoke': Pick<AccessKeyView, 'id'>
  'GET /api/audit': AuditPage
  'GET /api/panel': PanelSnapshot
  'GET /api/trail': TrailView
  'GET /api/trails': TrailsView
  'GET /api/points': RecentPointsView
  'GET /api/outages': OutagesView
  'POST /api/acknowledgements': AcknowledgementView
  'GET /api/register': RegisterView
  'GET /api/zones.geojson': ZonesView
  'POST /api/register/preview': ImportView
  'POST /api/register/import': ImportView
  'POST /api/register/van': RegisteredVan
  'POST /api/register/depot': Depot
  'POST /api/register/market': Market
  'POST /api/register/shifts': { readonly depotId: string; readonly shifts: readonly Omit<Shift, 'depotId'>[] }
  'POST /api/register/remove': { readonly kind: 'depots' | 'markets'; readonly id: string }
  'POST /api/mutes': MuteView
  'POST /api/mutes/lift': Numbered
  'GET /api/handover': HandOverView
  'GET /api/distances/totals': TravelTotalsView
  'GET /api/stock': StockSnapshot
  'GET /api/stock/history': StockHistoryView
  'POST /api/stock/acknowledgements': StockAcknowledgementView
  'GET /api/days': DaysView
  'GET /api/days/van': DayView
  'GET /api/fleet.geojson': PointsGeoJson
  'GET /api/no-signal.geojson': PointsGeoJson
  'GET /api/distances.geojson': PointsGeoJson
  'GET /api/track.geojson': TrackGeoJson
  'GET /api/events': PlatformEvent
  'GET /api/openapi.json': {
    readonly openapi: string
    readonly info: object
    readonly servers: readonly object[]
    readonly components: object
    readonly paths: Readonly<Record<string, object>>
  }
  'GET /api/subscriptions': DataOutView
  /** `secret`: of a webhook, told this once. */
  'POST /api/subscriptions': { readonly subscription: SubscriptionView; readonly secret: string | null }
  'POST /api/subscriptions/remove': Numbered
  'POST /api/subscriptions/test': { readonly key: string }
  'POST /api/deliveries/again': Numbered
  'GET /api/operations': OperationsView
  'GET /api/ledger': LedgerView
  'POST /api/ledger': LedgerRunView
  'POST /api/ledger/cancel': Numbered
  'GET /api/backfills': BackfillsView
  'GET /api/backfills/one': BackfillOneView
  'GET /api/backfills/difference': BackfillDifferenceView
  'GET /api/backfills/track': BackfillTrackView
  'POST /api/backfills/preview': BackfillPreview
  /** `isNew` false: this very backfill was there already. */
  'POST /api/backfills': { readonly version: number; readonly isNew: boolean }
  'POST /api/backfills/publish': Published
  'POST /api/backfills/rollback': Published
  'POST /api/backfills/cancel': Numbered
  'GET /api/van-day': VanDayView
  'GET /api/replay': ReplayView
  /** Of a refusal, whatever was asked. */
  refusal: PanelError
}
