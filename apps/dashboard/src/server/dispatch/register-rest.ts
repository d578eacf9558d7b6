import {
  type ImportView,
  isName,
  madridDate,
  madridDateMs,
  madridDay,
  REGISTER_KINDS,
  type RegisteredVan,
  type RegisterView,
  type ZonesView,
} from '@km0/contracts'
import { type Dispatch, RegisterImportError, registerCsv } from '@km0/serving'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { exportScopeOf, json, type Routes, requireEverything, requireRole, sessionOf } from '../rest.ts'

export const importBody = z.strictObject({ kind: z.enum(REGISTER_KINDS), csv: z.string() })
const date = z
  .string()
  .refine((text) => madridDateMs(text) !== null, 'is not a date YYYY-MM-DD')
  .nullable()
/** The store takes no NUL, and a name is one line. */
const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .refine((text) => ![...text].some((character) => character < ' '), 'no control characters')
export const vanBody = z.strictObject({
  van: z.string().refine(isName, 'is no name of a van'),
  name: line(100).min(1),
  plate: line(20).nullable(),
  depotId: z.string().refine(isName, 'is no depot').nullable(),
  /** First and last day in service, of Europe/Madrid. */
  inServiceFrom: date,
  inServiceTo: date,
})

export interface RegisterRestOptions {
  readonly store: Pick<Dispatch, 'readRegister' | 'tryImport' | 'importCsv' | 'putVan'>
  readonly nowMs: () => number
  readonly onStored: () => Promise<void>
}

/** The register: read by scope, changed by administrators. */
export function registerRoutes({ store, nowMs, onStored }: RegisterRestOptions): Routes {
  return new Map([
    [
      '/api/register',
      {
        GET: async (request, response) => {
          const { scope, roles } = sessionOf(request)
          const mayEdit = scope.kind === 'all' && roles.includes('administrator')
          const view: RegisterView = { nowMs: nowMs(), mayEdit, ...(await store.readRegister(scope)) }
          json(response, 200, view)
        },
      },
    ],
    [
      '/api/register.csv',
      {
        GET: async (request, response, url) => {
          const kind = REGISTER_KINDS.find((one) => one === url.searchParams.get('kind'))
          if (kind === undefined) throw new Refusal(400, 'which register?', `Ask for /api/register.csv?kind=${REGISTER_KINDS.join('|')}.`)
          const scope = exportScopeOf(request)
          if (scope.masked === true && kind === 'vans')
            throw new Refusal(
              403,
              'this file names vans',
              'Files that you take away hold pseudonyms; an administrator may change KM0_MASKED.',
            )
          const csv = registerCsv(kind, await store.readRegister(scope))
          response.writeHead(200, {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': `attachment; filename="km0-${kind}-${madridDate(nowMs())}.csv"`,
            'cache-control': 'no-store',
          })
          response.end(csv)
        },
      },
    ],
    [
      '/api/zones.geojson',
      {
        GET: async (request, response) => {
          const { markets } = await store.readRegister(sessionOf(request).scope)
          const features = markets.flatMap(({ id, name, zone }) =>
            zone === null ? [] : [{ type: 'Feature' as const, properties: { market: id, name }, geometry: zone }],
          )
          const view: ZonesView = { type: 'FeatureCollection', nowMs: nowMs(), features }
          response.writeHead(200, { 'content-type': 'application/geo+json; charset=utf-8', 'cache-control': 'no-store' })
          response.end(JSON.stringify(view))
        },
      },
    ],
    [
      '/api/register/preview',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const { kind, csv } = await readBody(request, importBody, 'upload')
          json(response, 200, firstProblems(await store.tryImport(kind, csv)))
        },
      },
    ],
    [
      '/api/register/import',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const { kind, csv } = await readBody(request, importBody, 'upload')
          const result = firstProblems(await store.importCsv(kind, csv))
          if (!('problems' in result)) await onStored()
          json(response, 'problems' in result ? 200 : 201, result)
        },
      },
    ],
    [
      '/api/register/van',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const van = vanOf(await readBody(request, vanBody))
          try {
            await store.putVan(van)
          } catch (error) {
            if (!(error instanceof RegisterImportError)) throw error
            throw new Refusal(400, 'the van cannot be stored', error.problems.map(({ problem }) => problem).join('; '))
          }
          await onStored()
          json(response, 201, van)
        },
      },
    ],
  ])
}

/** Throws a Refusal (403) unless who asks may change the register. */
export function mayEditRegister(request: Parameters<typeof requireRole>[0]): void {
  requireRole(request, 'administrator')
  requireEverything(request, 'the register is')
}

function vanOf({ van, name, plate, depotId, inServiceFrom, inServiceTo }: z.infer<typeof vanBody>): RegisteredVan {
  const fromMs = inServiceFrom === null ? null : madridDateMs(inServiceFrom)
  const lastDayMs = inServiceTo === null ? null : madridDateMs(inServiceTo)
  if (fromMs !== null && lastDayMs !== null && lastDayMs < fromMs) {
    throw new Refusal(400, 'the last day in service is before the first', 'Give a later one, or none.')
  }
  return {
    van,
    name,
    plate: plate === '' ? null : plate,
    depotId,
    inServiceFromMs: fromMs,
    // The last day counts whole.
    inServiceToMs: lastDayMs === null ? null : madridDay(lastDayMs).endMs,
  }
}

/** A file of another kind is wrong in each line: nobody reads all of that. */
const PROBLEMS_MAX = 1_000
const firstProblems = (view: ImportView): ImportView => ('problems' in view ? { problems: view.problems.slice(0, PROBLEMS_MAX) } : view)
