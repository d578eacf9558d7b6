import { type DaysView, isName, type Period, type Scope } from '@km0/contracts'
import type { Serving } from '@km0/serving'
import { Refusal } from '../guard.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import { exportScopeOf, json, type Routes, sessionOf } from '../rest.ts'
import { dayNamed, daysUntil, nameOfDay } from './day-names.ts'
import { daysCsv } from './days-csv.ts'

/** Days of one answer at most. */
const LONGEST_DAYS = 31
const DAYS = 7

export interface DaysRestOptions {
  readonly serving: Pick<Serving, 'readDays' | 'readDay'>
  readonly state: Pick<MaskingState, 'daysFor' | 'dayFor' | 'vanNamed'>
  readonly nowMs: () => number
}

/** Distances by day, and one cell of it explained. */
export function daysRoutes({ serving, state, nowMs }: DaysRestOptions): Routes {
  const read = async (scope: Scope, url: URL): Promise<DaysView> => {
    return state.daysFor(scope, { nowMs: nowMs(), ...(await serving.readDays(scope, daysOf(url, nowMs()))) })
  }
  return new Map([
    ['/api/days', { GET: async (request, response, url) => json(response, 200, await read(sessionOf(request).scope, url)) }],
    [
      '/api/days.csv',
      {
        GET: async (request, response, url) => {
          const view = await read(exportScopeOf(request), url)
          const [first, last] = [view.days[0], view.days.at(-1)] as [Period, Period]
          response.writeHead(200, {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': `attachment; filename="km0-${nameOfDay(first)}-${nameOfDay(last)}.csv"`,
            'cache-control': 'no-store',
          })
          response.end(daysCsv(view, { bom: url.searchParams.get('bom') === '1' }))
        },
      },
    ],
    [
      '/api/days/van',
      {
        GET: async (request, response, url) => {
          const van = url.searchParams.get('van') ?? ''
          if (!isName(van)) throw new Refusal(400, 'which van?', 'Ask for /api/days/van?van=NAME&day=YYYY-MM-DD.')
          const day = dayNamed(url.searchParams.get('day') ?? '')
          const { scope } = sessionOf(request)
          const known = state.vanNamed(scope, van)
          const view = known === null ? null : await serving.readDay(scope, known, day)
          if (view === null)
            throw new Refusal(404, `nothing is known of ${van} on that day`, 'Use a van and a day as GET /api/days has them.')
          json(response, 200, state.dayFor(scope, { nowMs: nowMs(), ...view }))
        },
      },
    ],
  ])
}

/** `?last=YYYY-MM-DD&days=N`: by default the last seven, today included. */
function daysOf(url: URL, nowMs: number): Period[] {
  const text = url.searchParams.get('days') ?? String(DAYS)
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > LONGEST_DAYS) throw new Refusal(400, `"${text.slice(0, 40)}" days`, `Ask for 1 to ${LONGEST_DAYS}.`)
  const last = url.searchParams.get('last')
  return daysUntil(last === null ? nowMs : dayNamed(last).startMs, count)
}
