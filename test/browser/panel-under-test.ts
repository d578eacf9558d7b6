import { join } from 'node:path'
import type { RecentPointsView } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { mapRoutes } from '../../apps/dashboard/src/server/map/map-rest.ts'
import { ownTilesRoutes } from '../../apps/dashboard/src/server/map/own-tiles.ts'
import { MaskingState } from '../../apps/dashboard/src/server/masking/masking-state.ts'
import { openPages } from '../../apps/dashboard/src/server/pages.ts'
import { type PanelExtension, type PanelServer, type PanelSignIn, startPanelServer } from '../../apps/dashboard/src/server/panel-server.ts'
import type { PanelSource } from '../../apps/dashboard/src/server/panel-source.ts'
import { readPlaces } from '../../apps/dashboard/src/server/places.ts'
import { json, type Routes } from '../../apps/dashboard/src/server/rest.ts'
import { keptSession } from '../../apps/dashboard/src/server/sign-in/session.ts'
import { testSignIn } from '../../apps/dashboard/src/server/sign-in/sessions.testbench.ts'
import { sessionView } from '../../apps/dashboard/src/server/sign-in/sign-in-rest.ts'

export const DASHBOARD = join(import.meta.dirname, '../../apps/dashboard')
export const LABELS = join(DASHBOARD, 'public/map/labels.geo.json')

let pages: ReturnType<typeof openPages> | undefined

/** The panel's own server with its built pages, fed by any source, on a free port. */
export async function startPanelUnderTest(
  source: PanelSource,
  given: {
    port?: number
    clock?: 'machine' | 'play'
    nowMs?: () => number
    extensions?: readonly PanelExtension[]
    programs?: ReadonlyMap<string, string>
    /** By default whoever comes is an administrator called Marta Puig. */
    signIn?: PanelSignIn
    /** Every 1 s and 100 ms by default. */
    tickMs?: number
    batchMs?: number
    /** Address of what a customer brings to the map. */
    mapUrl?: string
    /** What arrived from a van lately; by default nothing. */
    recentPoints?: (van: string) => Promise<RecentPointsView>
    /** File of a customer's tiles. */
    tiles?: string
  } = {},
): Promise<PanelServer & { readonly state: MaskingState }> {
  const placeOf = readPlaces(join(DASHBOARD, '.generated/municipalities.geo.json'))
  const state = new MaskingState({ clock: given.clock ?? 'machine', placeOf })
  const nowMs = () => state.nowMs((given.nowMs ?? Date.now)())
  const nothing = async (van: string): Promise<RecentPointsView> => ({ van, nowMs: nowMs(), fromMs: nowMs(), points: [], truncated: false })
  const session: Routes = new Map([
    ['/api/session', { GET: (request, response) => json(response, 200, sessionView(keptSession(request), nowMs())) }],
  ])
  const routes: Routes = new Map([
    // Of sign-in, a page asks for no more than this.
    ...session,
    ...mapRoutes({ state, nowMs, recentPoints: given.recentPoints ?? nothing }),
    ...(given.tiles === undefined ? [] : ownTilesRoutes(given.tiles)),
  ])
  const server = await startPanelServer({
    host: '127.0.0.1',
    port: given.port ?? 0,
    allowedNames: [],
    state,
    source,
    signIn: given.signIn ?? testSignIn(),
    metrics: new Registry(),
    extensions: [{ routes }, ...(given.extensions ?? [])],
    tickMs: given.tickMs,
    batchMs: given.batchMs,
    ...(given.programs === undefined ? {} : { programs: given.programs }),
    mapStyleUrl: given.mapUrl ?? null,
    // Once a process: each opening leaves listeners on it.
    pages: (server) => {
      pages ??= openPages(DASHBOARD, server)
      return pages
    },
    onError: (error, what) => console.error(what, error),
    ...(given.nowMs === undefined ? {} : { machineNowMs: given.nowMs }),
  })
  return { ...server, state }
}
