import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Counter, commonEnvironment, startProgram } from '@km0/runtime'
import { openLedgerRuns, openServing, openStockServing } from '@km0/serving'
import { openLog } from '@km0/transport'
import { z } from 'zod'
import { daysRoutes } from './server/days/days-rest.ts'
import { ledgerRoutes } from './server/ledger/ledger-rest.ts'
import { LogSource } from './server/log-source.ts'
import { openPages } from './server/pages.ts'
import { startPanelServer } from './server/panel-server.ts'
import { PanelState } from './server/panel-state.ts'
import { readPlaces } from './server/places.ts'
import { readPrograms } from './server/programs-health.ts'
import { stockExtension } from './server/stock/stock-extension.ts'

const environment = commonEnvironment.extend({
  KM0_HTTP_NAMES: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((name) => name.trim().toLowerCase()))
    .describe('host names under which the panel is reached, comma separated; addresses and localhost always work'),
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
const serving = openServing({
  databaseUrl: settings.DATABASE_URL,
  applicationName: 'km0-dashboard',
  onError: (error) => logger.warn({ err: error }, 'an idle connection to the store was lost'),
})
shutdown.add('store', () => serving.close())
const stock = openStockServing({
  databaseUrl: settings.DATABASE_URL,
  applicationName: 'km0-dashboard-stock',
  maxConnections: 2,
  onError: (error) => logger.warn({ err: error }, 'an idle connection to the store was lost'),
})
shutdown.add('store of stock', () => stock.close())
const ledgers = openLedgerRuns({
  databaseUrl: settings.DATABASE_URL,
  applicationName: 'km0-dashboard-ledger',
  maxConnections: 2,
  onError: (error) => logger.warn({ err: error }, 'an idle connection to the store was lost'),
})
shutdown.add('store of ledgers', () => ledgers.close())

const log = openLog({ brokers: settings.KAFKA_BROKERS, clientId: 'km0-dashboard', logger })
const placeOf = readPlaces(join(folder, '.generated/municipalities.geo.json'))
const state = new PanelState({
  clock: settings.KM0_CLOCK,
  placeOf,
  limits: { outageAfterMs: settings.KM0_OUTAGE_AFTER_MS, nearDistanceMm: settings.KM0_NEAR_DISTANCE_M * 1_000 },
})
const source = new LogSource({
  serving,
  log,
  nowMs: () => state.nowMs(Date.now()),
  onTrouble: (error, what) => logger.warn({ err: error }, what),
  onRefused: (topic) => refused.inc({ topic }),
  onFatal: (error) => shutdown.fail(error),
})
startPanelServer({
  host: settings.KM0_HTTP_HOST,
  port: settings.KM0_HTTP_PORT,
  allowedNames: settings.KM0_HTTP_NAMES,
  state,
  source,
  extensions: [
    stockExtension(stock, (error) => logger.warn({ err: error }, 'stock could not be read')),
    { routes: daysRoutes({ serving, nowMs: () => state.nowMs(Date.now()) }) },
    { routes: ledgerRoutes({ runs: ledgers, platformNowMs: () => state.nowMs(Date.now()) }) },
  ],
  metrics,
  programs: settings.KM0_PROGRAMS,
  mapStyleUrl: settings.KM0_MAP_STYLE_URL ?? null,
  pages: (server) => openPages(folder, server),
  onError: (error, what) => logger.error({ err: error }, what),
}).then(
  (server) => {
    shutdown.add('panel', () => server.close())
    logger.info({ host: settings.KM0_HTTP_HOST, port: server.port }, 'the panel listens')
  },
  (error: unknown) => shutdown.fail(error),
)
