import { LEDGER_MAX_SPAN_MS, type LedgerView } from '@km0/contracts'
import type { LedgerRuns } from '@km0/serving'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { type Handler, json, type Routes, requireEverything, sessionOf } from '../rest.ts'

const RUNS_SHOWN = 30
const HOUR_MS = 3_600_000

const instant = z.number().int().min(0).max(4_102_444_800_000)
/** Without times: the hour that ends now. */
export const askBody = z.strictObject({ fromMs: instant.optional(), toMs: instant.optional() })
export const cancelBody = z.strictObject({ id: z.number().int().min(1) })

export interface LedgerRestOptions {
  readonly runs: Pick<LedgerRuns, 'ask' | 'cancel' | 'list' | 'report'>
  /** Present time of the platform. */
  readonly platformNowMs: () => number
  readonly nowMs?: () => number
}

/**
 * The REST interface of the ledger: asks for runs and shows what batch workers have made of them. It reads no log itself. The ledger counts
 * over all vans, so only those who see everything see it.
 */
export function ledgerRoutes({ runs, platformNowMs, nowMs = Date.now }: LedgerRestOptions): Routes {
  const show: Handler = async (request, response, url) => {
    requireEverything(request, 'the ledger is')
    const asked = url.searchParams.get('run')
    if (asked !== null && !/^\d{1,15}$/.test(asked)) throw new Refusal(400, 'which run?', 'Ask for /api/ledger?run=NUMBER, or without run.')
    const [list, shown] = await Promise.all([runs.list(RUNS_SHOWN), runs.report(asked === null ? null : Number(asked))])
    const view: LedgerView = { nowMs: nowMs(), platformNowMs: platformNowMs(), runs: list, shown }
    json(response, 200, view)
  }
  const ask: Handler = async (request, response) => {
    requireEverything(request, 'the ledger is')
    const { toMs = platformNowMs(), fromMs = toMs - HOUR_MS } = await readBody(request, askBody)
    if (toMs <= fromMs || toMs - fromMs > LEDGER_MAX_SPAN_MS) {
      throw new Refusal(400, 'the span does not fit', `toMs is after fromMs, by ${LEDGER_MAX_SPAN_MS / HOUR_MS} hours at most.`)
    }
    const run = await runs.ask({ fromMs, toMs, actor: sessionOf(request).operator, nowMs: nowMs() })
    if (run === null) throw new Refusal(429, 'many ledgers wait already', 'Cancel one, or wait until some are done.')
    json(response, 201, run)
  }
  const cancel: Handler = async (request, response) => {
    requireEverything(request, 'the ledger is')
    const { id } = await readBody(request, cancelBody)
    if (!(await runs.cancel(id, nowMs()))) throw new Refusal(404, `run ${id} is not open`, 'GET /api/ledger lists those that are.')
    json(response, 200, { id })
  }
  return new Map([
    ['/api/ledger', { GET: show, POST: ask }],
    ['/api/ledger/cancel', { POST: cancel }],
  ])
}
