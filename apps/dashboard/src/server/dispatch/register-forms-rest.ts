import { type ImportView, isName, type RegisterKind } from '@km0/contracts'
import { type Dispatch, RegisterImportError, registerCsv, type StoredRegister } from '@km0/serving'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { json, type Routes } from '../rest.ts'
import { mayEditRegister, type RegisterRestOptions } from './register-rest.ts'

const id = z.string().refine(isName, 'is not 1 to 64 characters without control characters')
const name = z.string().trim().min(1, 'is empty').max(100)
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time HH:MM')

export const depotBody = z.strictObject({
  id,
  name,
  lat: z.number().min(-90).max(90),
  lon: z.number().min(-180).max(180),
  markets: z.array(id.refine((market) => !market.includes(';'), 'has a semicolon')).max(200),
  /** Hours of every day, where there is no calendar. */
  shiftStart: clock.nullable(),
  shiftEnd: clock.nullable(),
})
export const marketBody = z.strictObject({
  id,
  name,
  zone: z.record(z.string(), z.unknown()).nullable().describe('GeoJSON of a Polygon or MultiPolygon'),
})
export const shiftsBody = z.strictObject({
  depotId: id,
  shifts: z.array(z.strictObject({ day: z.string().max(10), start: clock.nullable(), end: clock.nullable() })).max(1_000),
})
export const removeBody = z.strictObject({ kind: z.enum(['depots', 'markets']), id })

const NOTHING: StoredRegister = { depots: [], vans: [], markets: [], shifts: [] }

export interface RegisterFormsOptions extends Omit<RegisterRestOptions, 'store'> {
  readonly store: RegisterRestOptions['store'] & Pick<Dispatch, 'clearShifts' | 'removePlace'>
}

/**
 * The register by forms: one depot, one market, the calendar of one depot. What is given is written as the file that an import takes and goes through
 * the same checks, so a form takes what a file takes and refuses what a file refuses, in the same words.
 */
export function registerFormsRoutes({ store, onStored }: RegisterFormsOptions): Routes {
  const put = async (kind: RegisterKind, what: string, given: Partial<StoredRegister>): Promise<void> => {
    const result: ImportView = await store.importCsv(kind, registerCsv(kind, { ...NOTHING, ...given }))
    if ('problems' in result) throw refused(what, result.problems)
    await onStored()
  }
  return new Map([
    [
      '/api/register/depot',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const depot = await readBody(request, depotBody)
          await put('depots', 'the depot', { depots: [depot] })
          json(response, 201, depot)
        },
      },
    ],
    [
      '/api/register/market',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const market = await readBody(request, marketBody, 'upload')
          // Whether it is a zone is for the import to say.
          await put('markets', 'the market', { markets: [market as unknown as StoredRegister['markets'][number]] })
          json(response, 201, market)
        },
      },
    ],
    [
      '/api/register/shifts',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const { depotId, shifts } = await readBody(request, shiftsBody)
          if (shifts.length > 0) await put('shifts', 'the calendar', { shifts: shifts.map((shift) => ({ depotId, ...shift })) })
          else {
            await store.clearShifts(depotId)
            await onStored()
          }
          json(response, 201, { depotId, shifts })
        },
      },
    ],
    [
      '/api/register/remove',
      {
        POST: async (request, response) => {
          mayEditRegister(request)
          const place = await readBody(request, removeBody)
          const removed = await store.removePlace(place.kind, place.id).catch((error: unknown) => {
            throw error instanceof RegisterImportError ? refused(place.id, error.problems, 'cannot be removed') : error
          })
          if (!removed) throw new Refusal(404, `there is no ${place.id}`, 'GET /api/register lists those that there are.')
          await onStored()
          json(response, 200, place)
        },
      },
    ],
  ])
}

function refused(what: string, problems: readonly { readonly problem: string }[], how = 'cannot be stored'): Refusal {
  return new Refusal(400, `${what} ${how}`, [...new Set(problems.map(({ problem }) => problem))].join('; '))
}
