import { Refusal } from './guard.ts'
import type { PanelSource } from './panel-source.ts'
import { json, type Routes, sessionOf } from './rest.ts'

const DAY_MS = 86_400_000
/** A span of at most so long is answered. */
const SPAN_MAX_MS = 31 * DAY_MS

/** GET /api/outages?from=&to= (ms since 1970; by default the last day): outages of ours, and silences that do and do not overlap them. */
export function outagesRoutes(options: { readonly read: PanelSource['readOutages']; readonly nowMs: () => number }): Routes {
  return new Map([
    [
      '/api/outages',
      {
        GET: async (request, response, url) => {
          const toMs = timeOf(url, 'to') ?? options.nowMs()
          const fromMs = timeOf(url, 'from') ?? toMs - DAY_MS
          if (fromMs >= toMs || toMs - fromMs > SPAN_MAX_MS) {
            throw new Refusal(400, 'that is no span of at most 31 days', 'Ask for /api/outages?from=MS&to=MS with from before to.')
          }
          json(response, 200, await options.read(sessionOf(request).scope, fromMs, toMs))
        },
      },
    ],
  ])
}

function timeOf(url: URL, name: string): number | null {
  const text = url.searchParams.get(name)
  if (text === null) return null
  if (!/^\d{1,13}$/.test(text)) throw new Refusal(400, `${name} is no time`, 'Times are milliseconds since 1970, e.g. from=1789380000000.')
  return Number(text)
}
