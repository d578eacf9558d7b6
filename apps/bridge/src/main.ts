import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { loadSettings, openTracer, serveOperations, startProgram } from '@km0/runtime'
import { openLog } from '@km0/transport'
import { Bridge } from './bridge.ts'
import { bridgeEnvironment } from './settings.ts'

// Delay and allowed lateness stand with the settings of all pipelines; the bridge tells them to the log.
const { positions } = loadSettings('bridge', process.env, (text, file) => readPipelineSettings(text, file, process.env))
process.env.KM0_POSITIONS_DELAY_MS = String(positions.delayMs)
process.env.KM0_POSITIONS_ALLOWED_LATENESS_MS = String(positions.allowedLatenessMs)

const { settings, log: logger, metrics, health, shutdown } = startProgram('bridge', bridgeEnvironment)

const operations = await serveOperations({ host: settings.KM0_HTTP_HOST, port: settings.KM0_HTTP_PORT, health, metrics })
shutdown.add('operations', () => operations.close())
logger.info({ port: operations.port }, 'health and metrics')

const log = openLog({ brokers: settings.KAFKA_BROKERS, clientId: settings.KM0_BRIDGE_CLIENT_ID, logger })
const tracer = openTracer('bridge', process.env)
shutdown.add('traces', () => tracer?.close())
const bridge = new Bridge({ settings, log, logger, tracer, metrics, health, onFatal: (error) => shutdown.fail(error) })
bridge.start()
shutdown.add('bridge', () => bridge.stop())
