import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Counter, commonEnvironment, startProgram } from '@km0/runtime'
import { openServing } from '@km0/serving'
import { openLog } from '@km0/transport'
import { z } from 'zod'
import { LogSource } from './server/log-source.ts'
import { openPages } from './server/pages.ts'
import { startPanelServer } from './server/panel-server.ts'
import { readPlaces } from './server/places.ts'

const environment = commonEnvironment.extend({
  /** Names besides numbers and `localhost` under which browsers reach the panel, separated by commas: any other Host is refused. */
  KM0_PANEL_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((name) => name.trim().toLowerCase()))
    .transform((names) => names.filter((name) => name !== '')),
  /** The customer's own map style; empty takes the one that the panel brings. */
  KM0_MAP_STYLE_URL: z.url().optional(),
  KM0_REGISTER_REFRESH_MS: z.coerce.number().int().min(1_000).default(10_000),
})

const { settings, log, metrics, shutdown } = startProgram('dashboard', environment)
/** The bundle lies in dist/, the pages beside it. */
const folder = join(dirname(fileURLToPath(import.meta.url)), '..')

const unreadable = new Counter({
  name: 'km0_panel_unreadable_total',
  help: 'Records that hold no value of their topic.',
  labelNames: ['topic'],
  registers: [metrics],
})
const serving = openServing({
  databaseUrl: settings.DATABASE_URL,
  applicationName: 'km0-dashboard',
  onError: (error) => log.warn({ err: error }, 'database connection'),
})
shutdown.add('postgres', () => serving.close())

const source = new LogSource({
  log: openLog({ brokers: settings.KAFKA_BROKERS, clientId: 'km0-dashboard', logger: log }),
  serving,
  registerEveryMs: settings.KM0_REGISTER_REFRESH_MS,
  onTrouble: (error, what) => log.warn({ err: error, what }, 'the panel waits for a service'),
  onUnreadable: (topic, record) => {
    unreadable.inc({ topic })
    log.warn({ topic, partition: record.partition, offset: record.offset }, 'a record could not be read')
  },
})

const server = await startPanelServer({
  host: settings.KM0_HTTP_HOST,
  port: settings.KM0_HTTP_PORT,
  allowedNames: settings.KM0_PANEL_HOSTS,
  clock: settings.KM0_CLOCK,
  source,
  placeOf: readPlaces(join(folder, '.generated', 'municipalities.geo.json')),
  metrics,
  mapStyleUrl: settings.KM0_MAP_STYLE_URL ?? null,
  pages: (http) => openPages(folder, http),
  onError: (error, what) => log.error({ err: error }, what),
})
shutdown.add('panel', () => server.close())
log.info({ port: server.port }, 'panel ready')
