import type { Scope } from '@km0/contracts'
import { modelOf, type PanelModel } from '../../features/feed/panel-model.ts'
import { prepareFeed } from '../../features/feed/prepare-feed.ts'
import { prepareFleet, type Van } from '../../features/van/prepare-fleet.ts'
import type { PanelState } from '../panel-state.ts'

/** What a browser of a scope shows now, made by the code that draws it. */
export interface Screen {
  readonly model: PanelModel
  readonly fleet: readonly Van[]
  readonly nowMs: number
}

/** Which vans: of some depots, of some names, in some states; null: whichever. */
export interface ScreenFilter {
  readonly depots: readonly string[] | null
  readonly vans: readonly string[] | null
  readonly states: readonly string[] | null
}

export function screenOf(state: Pick<PanelState, 'snapshot'>, scope: Scope, filter: ScreenFilter, machineNowMs: number): Screen {
  const model = modelOf(state.snapshot(scope, machineNowMs), machineNowMs)
  const nowMs = model.serverNowMs
  const feed = prepareFeed({ feed: model.feed, points: model.points, connected: true, serverNowMs: nowMs, nowMs })
  const isIn = (values: readonly string[] | null, value: string | null) => values === null || (value !== null && values.includes(value))
  const fleet = prepareFleet(model, feed, nowMs).filter(
    (van) => isIn(filter.depots, van.depotId) && isIn(filter.vans, van.van) && isIn(filter.states, van.state),
  )
  return { model, fleet, nowMs }
}
