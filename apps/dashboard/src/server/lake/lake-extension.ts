import type { PanelExtension } from '../panel-server.ts'
import type { ReplayRestOptions } from '../replay/replay-rest.ts'
import { replayRoutes } from '../replay/replay-rest.ts'
import { type VanDayRestOptions, vanDayRoutes } from '../van-day/van-day-rest.ts'
import { AnswerCache } from './answer-cache.ts'
import type { LakeReads } from './lake-reads.ts'

/** The page of a van and the fleet replay: one lake and one memory of answers. */
export function lakeExtension(
  options: Omit<VanDayRestOptions & ReplayRestOptions, 'cache'> & { readonly lake: LakeReads },
): PanelExtension {
  const cache = new AnswerCache()
  return { routes: new Map([...vanDayRoutes({ ...options, cache }), ...replayRoutes({ ...options, cache })]) }
}
