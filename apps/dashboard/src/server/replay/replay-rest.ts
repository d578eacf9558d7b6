import type { Scope } from '@km0/contracts'
import type { ReplayView } from '@km0/contracts/van-day-panel'
import type { Serving } from '@km0/serving'
import { Refusal } from '../guard.ts'
import type { AnswerCache } from '../lake/answer-cache.ts'
import { type LakeReads, LakeTroubleError } from '../lake/lake-reads.ts'
import { goneSignal, sendZipped, zip } from '../lake/send-packed.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import { json, type Routes, sessionOf } from '../rest.ts'

const HOUR_MS = 3_600_000
const SPAN_MAX_MS = 26 * HOUR_MS
/** An hour in which points may still come is read again after a minute; one that is long over hardly changes. */
const FRESH_MS = 60_000
const SETTLED_FRESH_MS = 600_000
const SETTLED_AFTER_MS = 2 * HOUR_MS
const LATEST_MS = 4_102_444_800_000

export interface ReplayRestOptions {
  readonly serving: Pick<Serving, 'readRegister' | 'readOutages'>
  readonly lake: LakeReads
  readonly cache: AnswerCache
  readonly state: Pick<MaskingState, 'replayFor'>
  /** Present time of the platform. */
  readonly nowMs: () => number
}

/** Where everybody was: an hour of the lake at a time, and beside it the register and our outages. Each asker gets the vans of their scope. */
export function replayRoutes({ serving, lake, cache, state, nowMs }: ReplayRestOptions): Routes {
  const vansOf = async (scope: Scope) =>
    scope.kind === 'all' ? null : (await serving.readRegister(scope)).registered.map(({ van }) => van).sort()
  return new Map([
    [
      '/api/replay',
      {
        GET: async (request, response, url) => {
          const { scope } = sessionOf(request)
          const [fromMs, toMs] = [timeOf(url, 'from'), timeOf(url, 'to')]
          if (fromMs >= toMs || toMs - fromMs > SPAN_MAX_MS)
            throw new Refusal(400, 'that is no span of at most 26 hours', 'Ask for /api/replay?from=MS&to=MS.')
          const [{ depots, registered }, { outages }] = await Promise.all([
            serving.readRegister(scope),
            serving.readOutages(scope, { fromMs, toMs }),
          ])
          const names = new Map(depots.map(({ id, name }) => [id, name]))
          const view: ReplayView = {
            nowMs: nowMs(),
            vans: registered.map(({ van, name, plate, depotId }) => ({
              van,
              name,
              plate,
              depot: depotId === null ? null : (names.get(depotId) ?? depotId),
            })),
            outages,
          }
          json(response, 200, view)
        },
      },
    ],
    [
      '/api/replay/hour',
      {
        GET: async (request, response, url) => {
          const { scope } = sessionOf(request)
          const fromMs = timeOf(url, 'from')
          if (fromMs % HOUR_MS !== 0)
            throw new Refusal(400, 'from is no whole hour', 'Ask for /api/replay/hour?from=MS of a whole hour (UTC).')
          const signal = goneSignal(response)
          const vans = await vansOf(scope)
          const isSettled = fromMs + HOUR_MS < nowMs() - SETTLED_AFTER_MS
          const how = scope.coarseOffShift === true ? 'off-shift' : ''
          const key = `replay|${vans === null ? 'all' : JSON.stringify(vans)}|${how}|${fromMs}`
          try {
            const bytes = await cache.get(key, isSettled ? SETTLED_FRESH_MS : FRESH_MS, signal, (given) =>
              lake.replay({ fromMs, toMs: fromMs + HOUR_MS, vans }, given).then((bytes) => zip(state.replayFor(scope, bytes))),
            )
            await sendZipped(request, response, bytes)
          } catch (error) {
            if (signal.aborted) return
            if (!(error instanceof LakeTroubleError)) throw error
            throw new Refusal(503, error.trouble.says, 'docs/lake.md says what the lake needs; everything else runs without it.')
          }
        },
      },
    ],
  ])
}

function timeOf(url: URL, name: string): number {
  const text = url.searchParams.get(name) ?? ''
  const ms = /^\d{1,13}$/.test(text) ? Number(text) : Number.NaN
  if (!(ms < LATEST_MS)) throw new Refusal(400, `${name} is no time`, 'Times are milliseconds since 1970, e.g. from=1789380000000.')
  return ms
}
