import { DEFAULT_DISPATCH_LIMITS, DEFAULT_POSITIONS_SETTINGS, EVERYTHING, type Scope } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { openDataOut, openDispatch, openServing, openStockServing } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { EventStreams } from '../../apps/dashboard/src/server/data-out/event-stream.ts'
import { exportsRoutes } from '../../apps/dashboard/src/server/data-out/exports-rest.ts'
import { subscriptionsRoutes } from '../../apps/dashboard/src/server/data-out/subscriptions-rest.ts'
import { daysRoutes } from '../../apps/dashboard/src/server/days/days-rest.ts'
import { dispatchExtension } from '../../apps/dashboard/src/server/dispatch/dispatch-extension.ts'
import { lakeExtension } from '../../apps/dashboard/src/server/lake/lake-extension.ts'
import type { LakeReads } from '../../apps/dashboard/src/server/lake/lake-reads.ts'
import { mapRoutes } from '../../apps/dashboard/src/server/map/map-rest.ts'
import { MaskingState } from '../../apps/dashboard/src/server/masking/masking-state.ts'
import { startPanelServer } from '../../apps/dashboard/src/server/panel-server.ts'
import type { PanelSource } from '../../apps/dashboard/src/server/panel-source.ts'
import { sessionFor, testSignIn } from '../../apps/dashboard/src/server/sign-in/sessions.testbench.ts'
import { stockExtension } from '../../apps/dashboard/src/server/stock/stock-extension.ts'

/** A van of ours and one of somebody else's, each with its depot and market, and people who may see the one or all. */
export const OURS = { van: 'furgoneta-3', depot: 'salt', market: 'salt' }
export const THEIRS = { van: 'furgoneta-4', depot: 'olot', market: 'lleo' }
/** What of the other nobody of ours may ever read. */
export const FOREIGN = /furgoneta-4|olot|lleo|secret d'ells/
const LIMITED: Scope = { kind: 'limited', depots: [OURS.depot], markets: [] }

/** Rows of every kind that has a van or a market, for both, around `atMs`. */
async function fill(pool: Pool, atMs: number): Promise<void> {
  for (const { van, depot, market } of [OURS, THEIRS]) {
    const note = van === THEIRS.van ? "secret d'ells" : 'nota'
    const run = (sql: string, ...values: unknown[]) => pool.query(sql, values)
    await run(`insert into km0.depot values ($1, $1, 42, 2.8, array[$2], '06:00', '20:00')`, depot, market)
    await run(`insert into km0.van (van, name, plate, depot_id) values ($1, $1, $2, $3)`, van, note, depot)
    await run(`insert into km0.market (id, name) values ($1, $1)`, market)
    await run(`insert into km0.shift values ($1, 'mon', '06:00', '14:00')`, depot)
    await run(`insert into km0.no_signal_episode values ($1, $2, $3, 1, 0, 1)`, van, atMs - 1_800_000, atMs - 600_000)
    const actor = `'id', 'Pau', '{}'`
    await run(
      `insert into km0.acknowledgement (van, since_ms, actor_id, actor_name, actor_roles, note, at_ms) values ($1, $2, ${actor}, $3, $2)`,
      van,
      atMs,
      note,
    )
    await run(
      `insert into km0.mute (kind, subject, note, actor_id, actor_name, actor_roles, at_ms) values ('van', $1, $2, ${actor}, $3)`,
      van,
      note,
      atMs,
    )
    await run(
      `select km0.tell($1, 'returned', $2, null, null, $3, jsonb_build_object('sinceMs', 1, 'endedMs', 2), $3)`,
      `returned/${van}`,
      van,
      atMs,
    )
    await run(`insert into km0.stock_live values ($1, $2, 1, 5, $3, $3, 1, 0, 1, 1)`, note, market, atMs)
    await run(`insert into km0.stock_episode values ($1, $2, $3, null, 1, 5, $3, 1, 0, 1, 1)`, note, market, atMs)
    await run(
      `insert into km0.subscription (name, channel, target, locale, kinds, least_step_ms, sees_all, depots, markets, owner_id, owner_name, created_at_ms, handed_event_id)
       values ($1, 'folder', '', 'ca', '{}', 60000, false, array[$2], '{}', $3, $1, 1, 0)`,
      note,
      depot,
      van === THEIRS.van ? 'test:other' : 'test:limited',
    )
  }
}

/** The panel's own server over a real store and lake, as of `atMs`. */
export async function panelOverBoth(given: { readonly databaseUrl: string; readonly lake: LakeReads; readonly atMs: number }) {
  const { databaseUrl, lake, atMs } = given
  const options = { databaseUrl, applicationName: 'attack', maxConnections: 2 }
  const pool = new Pool(options)
  await fill(pool, atMs)
  const [serving, dispatch, stock, store] = [openServing(options), openDispatch(options), openStockServing(options), openDataOut(options)]
  const nowMs = () => atMs
  const state = new MaskingState({ clock: 'machine', placeOf: () => 'Salt' })
  const source: PanelSource = {
    start: async (give) => {
      const register = await serving.readRegister(EVERYTHING)
      give({ kind: 'register', ...register })
      for (const { van } of register.registered)
        give({
          kind: 'point',
          source: { epoch: 1, partition: 0, offset: 1 },
          value: {
            ...{ repartidor: van, lat: 42, lon: 2.8, data_ms: atMs, arribada_ms: atMs, velocitat_mm_s: null, rumb_graus: null },
            ...{ dubtos: false, estat: 'en-moviment' },
          },
        })
    },
    stop: async () => undefined,
    acknowledge: (scope, view) => serving.acknowledge(scope, view),
    readTrail: (scope, van, fromMs, toMs) => serving.readTrack(scope, van, { fromMs, toMs, maxPoints: 1_000 }),
    readOutages: (scope, fromMs, toMs) => serving.readOutages(scope, { fromMs, toMs }),
    endOffsets: () => null,
    health: () => ({ kafka: { status: 'ok' } }),
  }
  const parts = { serving, stock, lake, state, nowMs, machineNowMs: nowMs }
  const streams = new EventStreams({ store, state, onTrouble: () => undefined, lookEveryMs: 20 })
  const ignore = () => undefined
  const panel = await startPanelServer({
    ...{ host: '127.0.0.1', port: 0, allowedNames: [], state, source, mapStyleUrl: null, machineNowMs: nowMs, metrics: new Registry() },
    signIn: testSignIn([sessionFor('limited', 'dispatcher', LIMITED), sessionFor('all', 'administrator')], null),
    extensions: [
      stockExtension(stock, ignore, nowMs),
      dispatchExtension({ store: dispatch, state, limits: DEFAULT_DISPATCH_LIMITS, nowMs, onTrouble: ignore }),
      lakeExtension({ ...parts, endOffsets: () => null, rules: DEFAULT_POSITIONS_SETTINGS, outageAfterMs: 60_000 }),
      { routes: daysRoutes(parts) },
      { routes: mapRoutes({ ...parts, recentPoints: async (van) => ({ van, nowMs: atMs, fromMs: atMs, points: [], truncated: false }) }) },
      { routes: exportsRoutes(parts) },
      { routes: subscriptionsRoutes({ store, nowMs, channels: async () => ({ webhook: true, email: true, folder: true }) }) },
      { routes: streams.routes, stop: () => streams.stop() },
    ],
    pages: async () => async (_request, response) => void response.end('page'),
    onError: (error, what) => console.error(what, error),
  })
  const url = `http://127.0.0.1:${panel.port}`
  return {
    url,
    pool,
    store,
    /** Asks as somebody; a body makes it a command. */
    ask: async (who: string, path: string, body?: object): Promise<{ status: number; text: string }> => {
      const response = await fetch(url + path, {
        headers: { cookie: `who=${who}`, origin: url, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    },
    close: async () => {
      await panel.close()
      await Promise.all([serving, dispatch, stock, store, pool].map((each) => each.close()))
    },
  }
}
