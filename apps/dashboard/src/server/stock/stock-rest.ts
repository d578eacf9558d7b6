import { isName, type Scope, type StockAcknowledgementView, type StockHistoryView } from '@km0/contracts'
import { HISTORY_SLOT_MS, type StockServing } from '@km0/serving'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { json, noteText, type Routes, sessionOf } from '../rest.ts'
import { readOptions } from './stock-hub.ts'

const DAY_MS = 86_400_000

/** The store takes no NUL, and no product is called so. */
const name = z.string().refine(isName, 'is no name')
export const acknowledgementBody = z.strictObject({
  product: name,
  market: name,
  startMs: z.number().int().min(0).max(4_102_444_800_000),
  note: noteText,
})

export interface StockRestOptions {
  readonly serving: Pick<StockServing, 'read' | 'readHistory' | 'acknowledge'>
  readonly nowMs: () => number
  /** Something was stored that everybody should see at once. */
  readonly onStored: () => void
}

/** The REST interface of stock. Every read and every command goes through the scope of whoever asks. */
export function stockRoutes({ serving, nowMs, onStored }: StockRestOptions): Routes {
  const history = async (scope: Scope, product: string, market: string): Promise<StockHistoryView> => {
    const toMs = nowMs()
    const fromMs = toMs - DAY_MS
    const { threshold, points } = await serving.readHistory(scope, { product, market, fromMs })
    return { product, market, slotSizeMs: HISTORY_SLOT_MS, fromMs, toMs, threshold, points }
  }
  return new Map([
    [
      '/api/stock',
      {
        GET: async (request, response) => {
          const stored = await serving.read(sessionOf(request).scope, readOptions(nowMs()))
          json(response, 200, { sequence: 0, nowMs: nowMs(), ...stored })
        },
      },
    ],
    [
      '/api/stock/history',
      {
        GET: async (request, response, url) => {
          const product = url.searchParams.get('product') ?? ''
          const market = url.searchParams.get('market') ?? ''
          if (!isName(product) || !isName(market)) {
            throw new Refusal(400, 'which product in which market?', 'Ask for /api/stock/history?product=NAME&market=NAME.')
          }
          json(response, 200, await history(sessionOf(request).scope, product, market))
        },
      },
    ],
    [
      '/api/stock/acknowledgements',
      {
        POST: async (request, response) => {
          const { scope, operator } = sessionOf(request)
          const command = await readBody(request, acknowledgementBody)
          const view: StockAcknowledgementView = { ...command, actor: operator, atMs: nowMs() }
          if (!(await serving.acknowledge(scope, view))) {
            throw new Refusal(
              404,
              `no episode of ${command.product} in ${command.market} began then`,
              'Use an episode as GET /api/stock has it.',
            )
          }
          onStored()
          json(response, 201, view)
        },
      },
    ],
  ])
}
