import type { ServerResponse } from 'node:http'
import { csvText, isName, madridDay, type Scope, type TrailPoint } from '@km0/contracts'
import type { Serving, StockServing } from '@km0/serving'
import { dayNamed } from '../days/day-names.ts'
import { Refusal } from '../guard.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import { exportScopeOf, type Handler, type Routes, sessionOf } from '../rest.ts'
import { readOptions } from '../stock/stock-hub.ts'
import { distancesTable, type ExportTable, fleetTable, geoJsonOf, isoTime, noSignalTable, stockTable } from './export-tables.ts'
import { type Screen, type ScreenFilter, screenOf } from './screen.ts'

const TRACK_MAX_POINTS = 10_000
const NAMES_MAX = 500

export interface ExportsOptions {
  readonly state: Pick<MaskingState, 'snapshot' | 'nowMs' | 'isKnown' | 'mayPassVan' | 'nameFor' | 'vanNamed' | 'pointsFor'>
  readonly serving: Pick<Serving, 'readTrack'>
  readonly stock: Pick<StockServing, 'read'>
  readonly machineNowMs?: () => number
}

type Format = 'csv' | 'geojson'

/** What is on the screen, as CSV and GeoJSON: of the vans that whoever asks may see, and of those the ones that the filter names. */
export function exportsRoutes({ state, serving, stock, machineNowMs = Date.now }: ExportsOptions): Routes {
  const ofScreen =
    (name: string, format: Format, tableOf: (screen: Screen) => ExportTable): Handler =>
    (request, response, url) => {
      const screen = screenOf(state, exportScopeOf(request), filterOf(url), machineNowMs())
      answer(response, `km0-${name}-${stamp(screen.nowMs)}`, format, tableOf(screen), url)
    }
  const ofStock: Handler = async (request, response, url) => {
    const nowMs = machineNowMs()
    const { episodes } = await stock.read(exportScopeOf(request), readOptions(nowMs))
    answer(response, `km0-stock-${stamp(nowMs)}`, 'csv', stockTable(episodes, url.searchParams.get('market')), url)
  }
  const ofTrack =
    (format: Format): Handler =>
    async (request, response, url) => {
      const asked = url.searchParams.get('van') ?? ''
      if (!isName(asked)) throw new Refusal(400, 'which van?', 'Ask for /api/track.csv?van=NAME&day=YYYY-MM-DD.')
      const scope = exportScopeOf(request)
      // By the name that the panel shows; the file has the one that files have.
      const van = state.vanNamed(sessionOf(request).scope, asked)
      if (van === null || !state.isKnown(van) || !state.mayPassVan(scope, van))
        throw new Refusal(404, `no van ${asked} is known`, 'Use the name as GET /api/panel has it.')
      const named = url.searchParams.get('day')
      const day = named === null ? madridDay(state.nowMs(machineNowMs())) : dayNamed(named)
      const points = state.pointsFor(scope, van, await readWhole(serving, scope, van, day))
      const shown = state.nameFor(scope, van)
      const name = `km0-${shown.replaceAll(/[^\w-]+/g, '_')}-${stamp(day.startMs + 43_200_000).slice(0, 10)}`
      if (format === 'csv') answer(response, name, 'csv', trackTable(shown, points), url)
      else send(response, `${name}.geojson`, 'application/geo+json; charset=utf-8', JSON.stringify(trackGeoJson(shown, points)))
    }
  return new Map<string, Readonly<Record<string, Handler>>>([
    ['/api/fleet.csv', { GET: ofScreen('fleet', 'csv', fleetTable) }],
    ['/api/fleet.geojson', { GET: ofScreen('fleet', 'geojson', fleetTable) }],
    ['/api/no-signal.csv', { GET: ofScreen('no-signal', 'csv', noSignalTable) }],
    ['/api/no-signal.geojson', { GET: ofScreen('no-signal', 'geojson', noSignalTable) }],
    ['/api/distances.csv', { GET: ofScreen('distances', 'csv', distancesTable) }],
    ['/api/distances.geojson', { GET: ofScreen('distances', 'geojson', distancesTable) }],
    ['/api/stock.csv', { GET: ofStock }],
    ['/api/track.csv', { GET: ofTrack('csv') }],
    ['/api/track.geojson', { GET: ofTrack('geojson') }],
  ])
}

async function readWhole(
  serving: Pick<Serving, 'readTrack'>,
  scope: Scope,
  van: string,
  day: { readonly startMs: number; readonly endMs: number },
): Promise<readonly TrailPoint[]> {
  return serving.readTrack(scope, van, { fromMs: day.startMs, toMs: day.endMs, maxPoints: TRACK_MAX_POINTS })
}

function trackTable(van: string, points: readonly TrailPoint[]): ExportTable {
  return {
    columns: ['van', 'event_time', 'event_ms', 'lat', 'lon'],
    rows: points.map(([lon, lat, eventMs]) => [van, isoTime(eventMs), eventMs, lat, lon]),
  }
}

/** One line, with the time of each of its points beside it, as programs that draw tracks read it. */
function trackGeoJson(van: string, points: readonly TrailPoint[]): object {
  const coordinates = points.map(([lon, lat]) => [lon, lat])
  const geometry = coordinates.length > 1 ? { type: 'LineString', coordinates } : null
  const times = points.map(([, , eventMs]) => isoTime(eventMs))
  return { type: 'FeatureCollection', features: [{ type: 'Feature', geometry, properties: { van, coordTimes: times } }] }
}

/** `?depot=&van=&state=`, each with commas or more than once. */
function filterOf(url: URL): ScreenFilter {
  const listOf = (name: string) => {
    const values = url.searchParams.getAll(name).flatMap((text) => text.split(','))
    if (values.length > NAMES_MAX) throw new Refusal(400, `more than ${NAMES_MAX} in ${name}`, 'Ask for fewer, or for all.')
    return values.length === 0 ? null : values
  }
  return { depots: listOf('depot'), vans: listOf('van'), states: listOf('state') }
}

function answer(response: ServerResponse, name: string, format: Format, table: ExportTable, url: URL): void {
  if (format === 'geojson') send(response, `${name}.geojson`, 'application/geo+json; charset=utf-8', JSON.stringify(geoJsonOf(table)))
  else send(response, `${name}.csv`, 'text/csv; charset=utf-8', csvText(table.columns, table.rows, { bom: wantsBom(url) }))
}

/** `?bom=1`: led by the byte order mark by which some spreadsheets know UTF-8. */
const wantsBom = (url: URL) => url.searchParams.get('bom') === '1'

function send(response: ServerResponse, name: string, type: string, body: string): void {
  response.writeHead(200, { 'content-type': type, 'content-disposition': `attachment; filename="${name}"`, 'cache-control': 'no-store' })
  response.end(body)
}

const stamp = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace(':', '')
