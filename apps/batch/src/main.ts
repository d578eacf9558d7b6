import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { QUEUES } from '@km0/contracts/queues'
import { diskEnvironment, loadSettings, serveOperations, startProgram, watchDisk } from '@km0/runtime'
import { startBackfills } from './backfill/start-backfills.ts'
import { deliveryEnvironment } from './deliveries/environment.ts'
import { startDeliveries } from './deliveries/start-deliveries.ts'
import { batchEnvironment } from './environment.ts'
import { latenessEnvironment, startLateness } from './lateness/start-lateness.ts'
import { ledgerEnvironment, startLedgers } from './ledger/start-ledgers.ts'
import { lineageEnvironment, startLineage } from './lineage/start-lineage.ts'
import { startNightly } from './nightly/start-nightly.ts'
import { retentionSettings, startRetention } from './retention/start-retention.ts'

const { settings, log, metrics, health, shutdown } = startProgram(
  'batch',
  batchEnvironment.extend({
    ...ledgerEnvironment.shape,
    ...latenessEnvironment.shape,
    ...deliveryEnvironment.shape,
    ...lineageEnvironment.shape,
    ...diskEnvironment.shape,
    ...retentionSettings.shape,
  }),
)

const operations = await serveOperations({ host: settings.KM0_HTTP_HOST, port: settings.KM0_HTTP_PORT, health, metrics })
shutdown.add('http', () => operations.close())
const disk = await watchDisk(
  { settings, log, metrics, health },
  { data: settings.KM0_DATA_DIR, lake: settings.KM0_LAKE_DATA, reports: settings.KM0_REPORT_DIR },
)
shutdown.add('disk', () => disk.close())
const ledgers = startLedgers({ settings, log, metrics, health })
shutdown.add('ledgers', () => ledgers.close())
const backfills = await startBackfills({ settings, log, metrics, health })
shutdown.add('queue', () => backfills.close())
const { positions: rules } = loadSettings('batch', process.env, (text, file) => readPipelineSettings(text, file, process.env))
const nightly = await startNightly({ settings, log, metrics, health, rules })
shutdown.add('nightly', () => nightly.close())
const deliveries = await startDeliveries({ settings, log, metrics, health })
shutdown.add('deliveries', () => deliveries.close())
const retention = await startRetention({ settings, log, metrics, health })
shutdown.add('retention', () => retention.close())
const lineage = startLineage({ settings, log, metrics })
shutdown.add('lineage', () => lineage.close())
const lateness = startLateness({ settings, log, health })
shutdown.add('lateness', () => lateness.close())
log.info({ port: operations.port, queue: QUEUES.backfills }, 'batch worker ready')
