import { QUEUES } from '@km0/contracts/queues'
import { lakeEnvironment } from '@km0/lake'
import { Counter, commonEnvironment, serveOperations, startProgram } from '@km0/runtime'
import { startQueueWorker } from '@km0/transport/queue'
import { z } from 'zod'
import { handlerOf, JOB_HANDLERS } from './jobs.ts'
import { ledgerEnvironment, startLedgers } from './ledger/start-ledgers.ts'

const environment = commonEnvironment
  .extend(lakeEnvironment.shape)
  .extend(ledgerEnvironment.shape)
  .extend({
    /** Jobs in work at a time in this process. */
    KM0_BATCH_CONCURRENCY: z.coerce.number().int().min(1).max(64).default(1),
  })

const { settings, log, metrics, health, shutdown } = startProgram('batch', environment)

const jobs = new Counter({
  name: 'km0_batch_jobs_total',
  help: 'Jobs ended, by outcome',
  labelNames: ['kind', 'outcome'],
  registers: [metrics],
})

let connected = () => false
health.register('redis', () => (connected() ? { status: 'ok' } : { status: 'down', detail: 'no connection to the queue' }))
const operations = await serveOperations({ host: settings.KM0_HTTP_HOST, port: settings.KM0_HTTP_PORT, health, metrics })
shutdown.add('http', () => operations.close())
const ledgers = startLedgers({ settings, log, metrics, health })
shutdown.add('ledgers', () => ledgers.close())

const worker = await startQueueWorker({
  redisUrl: settings.REDIS_URL,
  queue: QUEUES.backfills,
  concurrency: settings.KM0_BATCH_CONCURRENCY,
  work: async (job) => {
    try {
      const result = await handlerOf(job.kind, JOB_HANDLERS)(job.payload, job.progress)
      jobs.inc({ kind: job.kind, outcome: 'done' })
      return result
    } catch (error) {
      jobs.inc({ kind: Object.hasOwn(JOB_HANDLERS, job.kind) ? job.kind : 'unknown', outcome: 'failed' })
      log.error({ err: error, job: job.id }, 'job failed')
      throw error
    }
  },
  onError: (error) => log.warn({ err: error }, 'queue connection'),
})
connected = worker.connected
shutdown.add('queue', () => worker.close())
log.info({ port: operations.port, queue: QUEUES.backfills }, 'batch worker ready')
