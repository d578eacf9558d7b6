import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_DELAY_TARGET_SHARE, TRACE_HEADER } from '@km0/contracts'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { QUEUES } from '@km0/contracts/queues'
import { Counter, commonEnvironment, Histogram, loadSettings, openTracer, startProgram } from '@km0/runtime'
import {
  openBackfills,
  openDispatch,
  openLedgerRuns,
  openNightRuns,
  openSecretBox,
  openServing,
  openStockServing,
  secretsEnvironment,
} from '@km0/serving'
import { SignIn, signInSettings } from '@km0/signin'
import { openLog } from '@km0/transport'
import { openQueue } from '@km0/transport/queue'
import { z } from 'zod'
import { isAddress } from './features/map/own-map-settings.ts'
import { backfillsRoutes } from './server/backfills/backfills-rest.ts'
import { openDataOutExtensions } from './server/data-out/data-out-extension.ts'
import { daysRoutes } from './server/days/days-rest.ts'
import { dispatchExtension } from './server/dispatch/dispatch-extension.ts'
import { dispatchEnvironment, dispatchLimits } from './server/dispatch/dispatch-settings.ts'
import { panelLakeEnvironment } from './server/lake/lake-environment.ts'
import { lakeExtension } from './server/lake/lake-extension.ts'
import { LakeProcess } from './server/lake/lake-process.ts'
import { ledgerRoutes } from './server/ledger/ledger-rest.ts'
import { LogSource } from './server/log-source.ts'
import { mapExtension } from './server/map/map-extension.ts'
import { MaskingState } from './server/masking/masking-state.ts'
import { maskingEnvironment, maskingRules } from './server/masking/settings.ts'
import { openPages } from './server/pages.ts'
import { BATCH_MS } from './server/panel-hub.ts'
import { startPanelServer } from './server/panel-server.ts'
import { readPlaces } from './server/places.ts'
import { readPrograms } from './server/programs-health.ts'
import { doorEnvironment, doorLimits } from './server/sign-in/settings.ts'
import { giveFirstLink, signInExtension } from './server/sign-in/sign-in-extension.ts'
import { stockExtension } from './server/stock/stock-extension.ts'

const environment = commonEnvironment.extend({
  KM0_HTTP_NAMES: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((name) => name.trim().toLowerCase()))
    .describe('host names under which the panel is reached, comma separated; addresses and localhost always work'),
  KM0_DELAY_TARGET_SHARE: z.coerce
    .number()
    .gt(0)
    .lt(0.5)
    .default(DEFAULT_DELAY_TARGET_SHARE)
    .describe('share of the positions that may come after the delay, for the proposal of a delay'),
  KM0_PROGRAMS: z
    .string()
    .default('')
    .transform((text, context) => {
      const programs = readPrograms(text)
      if (programs === null) context.addIssue('is not name=http://host:port/health, comma separated')
      return programs ?? new Map<string, string>()
    })
    .describe("other programs of the platform whose health is told with the panel's"),
  KM0_NEAR_DISTANCE_M: z.coerce
    .number()
    .min(0)
    .max(1_000_000)
    .default(2_000)
    .describe('metres; vans that are silent within this distance of a silent one are told with it'),
  KM0_MAP_STYLE_URL: z.url().optional().describe("the customer's own map style; without it the offline map is drawn"),
  KM0_MAP_PMTILES: z
    .string()
    .optional()
    .describe('an archive of vector tiles (address, or path of a file) whose roads are drawn into the offline map'),
  KM0_MAP_ATTRIBUTION: z.string().optional().describe('whom the map names for those tiles'),
  ...doorEnvironment,
  ...secretsEnvironment,
  ...maskingEnvironment,
  ...dispatchEnvironment,
  ...panelLakeEnvironment.shape,
})

// The bundle lies in apps/dashboard/dist; pages and places are beside it.
const folder = join(dirname(fileURLToPath(import.meta.url)), '..')
const { settings, log: logger, metrics, shutdown } = startProgram('dashboard', environment)

const refused = new Counter({
  name: 'km0_panel_refused_total',
  help: 'Records that the panel could not read.',
  labelNames: ['topic'],
  registers: [metrics],
})
const tracer = openTracer('dashboard', process.env)
shutdown.add('traces', () => tracer?.close())
const liveDelay = new Histogram({
  name: 'km0_panel_live_delay_seconds',
  help: 'From the arrival of a position at the bridge to the panel, which tells browsers within 0.1 s.',
  buckets: [0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10, 30, 120],
  registers: [metrics],
})
const storeOptions = (use: string) => ({
  databaseUrl: settings.DATABASE_URL,
  applicationName: `km0-dashboard${use}`,
  onError: (error: Error) => logger.warn({ err: error }, 'an idle connection to the store was lost'),
})
const serving = openServing(storeOptions(''))
shutdown.add('store', () => serving.close())
const stock = openStockServing({ ...storeOptions('-stock'), maxConnections: 2 })
shutdown.add('store of stock', () => stock.close())
const ledgers = openLedgerRuns({ ...storeOptions('-ledger'), maxConnections: 2 })
shutdown.add('store of ledgers', () => ledgers.close())
const backfills = openBackfills({ ...storeOptions('-backfills'), maxConnections: 2 })
shutdown.add('store of backfills', () => backfills.close())
const nights = openNightRuns({ ...storeOptions('-nights'), maxConnections: 1 })
shutdown.add('store of nights', () => nights.close())
const signIn = new SignIn({ ...storeOptions('-sign-in'), settings: signInSettings(settings) })
shutdown.add('store of sign-in', () => signIn.close())
const dispatch = openDispatch({ ...storeOptions('-dispatch'), maxConnections: 2 })
shutdown.add('store of dispatch', () => dispatch.close())
const queue = openQueue({
  redisUrl: settings.REDIS_URL,
  queue: QUEUES.backfills,
  onError: (error) => logger.warn({ err: error }, 'queue connection'),
})
shutdown.add('queue', () => queue.close())
const lake = new LakeProcess({
  program: join(folder, 'dist/lake-reader.js'),
  environment: process.env,
  queryMs: settings.KM0_PANEL_LAKE_QUERY_MS,
  idleMs: settings.KM0_PANEL_LAKE_IDLE_MS,
})
shutdown.add('process that reads the lake', () => lake.close())
const { positions: rules } = loadSettings('dashboard', process.env, (text, file) => readPipelineSettings(text, file, process.env))

const log = openLog({ brokers: settings.KAFKA_BROKERS, clientId: 'km0-dashboard', logger })
const placeOf = readPlaces(join(folder, '.generated/municipalities.geo.json'))
const masking = { rules: maskingRules(settings), pseudonymKey: settings.KM0_PSEUDONYM_KEY ?? null }
const stateOptions = {
  clock: settings.KM0_CLOCK,
  placeOf,
  limits: { outageAfterMs: settings.KM0_OUTAGE_AFTER_MS, nearDistanceMm: settings.KM0_NEAR_DISTANCE_M * 1_000 },
  dispatchLimits: dispatchLimits(settings),
}
const state = new MaskingState(stateOptions, masking)
const platformNowMs = () => state.nowMs(Date.now())
const source = new LogSource({
  serving,
  log,
  nowMs: platformNowMs,
  onTrouble: (error, what) => logger.warn({ err: error }, what),
  onRefused: (topic) => refused.inc({ topic }),
  onLivePoint: ({ timestampMs, headers }) => {
    const nowMs = platformNowMs()
    liveDelay.observe((nowMs - timestampMs) / 1_000)
    const parent = tracer === null ? undefined : headers[TRACE_HEADER]
    // Browsers are told what moved at the next tick of the hub.
    if (parent !== undefined) tracer?.note({ name: 'dashboard: to the socket', startMs: nowMs, endMs: nowMs + BATCH_MS, parent })
  },
  onFatal: (error) => shutdown.fail(error),
})
const signInDoor = signInExtension({
  signIn,
  attempts: {
    perAddress: settings.KM0_SIGN_IN_ATTEMPTS_ADDRESS,
    perAccount: settings.KM0_SIGN_IN_ATTEMPTS,
    windowMs: settings.KM0_SIGN_IN_WINDOW_MINUTES * 60_000,
  },
  tokenRequestsPerMinute: settings.KM0_TOKEN_REQUESTS_PER_MINUTE,
  behindProxy: settings.KM0_HTTP_PROXY,
  auditDays: settings.KM0_AUDIT_DAYS,
  masking: masking.rules,
  onTrouble: (error, what) => logger.warn({ err: error }, what),
})
const dataOut = openDataOutExtensions({
  ...{ storeOptions, state, source, serving, stock, ledgers, programs: settings.KM0_PROGRAMS },
  targetShare: settings.KM0_DELAY_TARGET_SHARE,
  silenceStepsMs: dispatchLimits(settings).silenceStepsMs,
  secrets: openSecretBox({ text: settings.KM0_SECRETS_KEY, file: settings.KM0_SECRETS_KEY_FILE }),
  onTrouble: (error, what) => logger.warn({ err: error }, what),
})
shutdown.add('store of what leaves', () => dataOut.close())
startPanelServer({
  host: settings.KM0_HTTP_HOST,
  port: settings.KM0_HTTP_PORT,
  allowedNames: settings.KM0_HTTP_NAMES,
  state,
  source,
  signIn: signInDoor.panel,
  limits: doorLimits(settings),
  extensions: [
    signInDoor,
    stockExtension(stock, (error) => logger.warn({ err: error }, 'stock could not be read')),
    { routes: daysRoutes({ serving, state, nowMs: platformNowMs }) },
    { routes: backfillsRoutes({ backfills, serving, nights, queue, rules, nowMs: platformNowMs }) },
    { routes: ledgerRoutes({ runs: ledgers, platformNowMs }) },
    ...dataOut.extensions,
    dispatchExtension({
      ...{ store: dispatch, state, limits: dispatchLimits(settings), nowMs: platformNowMs },
      onTrouble: (error) => logger.warn({ err: error }, 'dispatch could not be read'),
    }),
    mapExtension({ state, log, nowMs: platformNowMs, tiles: settings.KM0_MAP_PMTILES ?? null }),
    lakeExtension({
      ...{ serving, lake, state, rules, nowMs: platformNowMs },
      outageAfterMs: settings.KM0_OUTAGE_AFTER_MS,
      endOffsets: () => source.endOffsets(),
    }),
  ],
  metrics,
  programs: settings.KM0_PROGRAMS,
  mapStyleUrl: settings.KM0_MAP_STYLE_URL ?? (isAddress(settings.KM0_MAP_PMTILES ?? '') ? settings.KM0_MAP_PMTILES : null) ?? null,
  pages: (server, loaded) => openPages(folder, server, loaded),
  onError: (error, what) => logger.error({ err: error }, what),
}).then(
  (server) => {
    shutdown.add('panel', () => server.close())
    logger.info({ host: settings.KM0_HTTP_HOST, port: server.port }, 'the panel listens')
    const stopped = new AbortController()
    shutdown.add('first link', () => stopped.abort())
    return giveFirstLink({
      signIn,
      url: settings.KM0_PANEL_URL ?? `http://127.0.0.1:${server.port}`,
      file: settings.KM0_SIGN_IN_LINK_FILE ?? null,
      say: (link) => logger.info(`sign in as the administrator, once: ${link} (another: pnpm km0 user link)`),
      stopped: stopped.signal,
    })
  },
  (error: unknown) => shutdown.fail(error),
)
