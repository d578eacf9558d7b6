import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { gatherLedger } from '@km0/audit'
import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import type { LakeEnvironment } from '@km0/lake'
import { type CommonEnvironment, Gauge, type Health, type Logger, loadSettings, type Registry } from '@km0/runtime'
import { isSchemaMissing, openLedgerRuns, openLedgerStore, openServing } from '@km0/serving'
import { openLog } from '@km0/transport'
import { z } from 'zod'
import { withLakeOrWhy } from '../lake-or-why.ts'
import { LedgerWorker } from './ledger-worker.ts'

/** Settings of the ledgers that this program makes. */
export const ledgerEnvironment = z.object({
  KM0_LEDGER_JOURNALS: z
    .string()
    .default('')
    .transform((text) => text.split(',').filter((path) => path !== ''))
    .describe('journals of publishers, comma separated'),
  /** A ledger that takes longer is given up. */
  KM0_LEDGER_TIMEOUT_MS: z.coerce.number().int().min(1_000).default(600_000),
  KM0_LEDGER_KEEP_DAYS: z.coerce.number().int().min(1).default(30),
  /** An hour's ledger is made when the hour ended so long ago; 0: never by itself. */
  KM0_LEDGER_HOURLY_AFTER_MS: z.coerce.number().int().min(0).default(600_000),
})

const POLL_MS = 1_000

export interface LedgerProgram {
  readonly settings: CommonEnvironment & LakeEnvironment & z.infer<typeof ledgerEnvironment>
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
}

/** Makes the ledgers that the panel or the clock asks for. Resolves to what stops it. */
export function startLedgers({ settings, log, metrics, health }: LedgerProgram): { close(): Promise<void> } {
  const { DATABASE_URL: databaseUrl, KAFKA_BROKERS: brokers } = settings
  const database = { databaseUrl, applicationName: 'km0-batch-ledger', maxConnections: 2 }
  const [serving, store, runs] = [openServing(database), openLedgerStore(database), openLedgerRuns(database)]
  const unnamed = new Gauge({
    name: 'km0_ledger_unnamed_records',
    help: 'unnamed difference of the newest ledger, NaN before the first',
    registers: [metrics],
  })
  unnamed.set(Number.NaN)
  const worker = new LedgerWorker({
    name: `${hostname()}:${process.pid}`,
    runs,
    settings: {
      pollMs: POLL_MS,
      timeoutMs: settings.KM0_LEDGER_TIMEOUT_MS,
      keepDays: settings.KM0_LEDGER_KEEP_DAYS,
      hourlyAfterMs: settings.KM0_LEDGER_HOURLY_AFTER_MS === 0 ? null : settings.KM0_LEDGER_HOURLY_AFTER_MS,
    },
    make: (span, signal, onProgress) =>
      withLakeOrWhy(settings, (lake) =>
        gatherLedger(
          {
            log: openLog({ brokers, clientId: 'km0-batch-ledger', logger: log }),
            serving,
            store,
            lake,
            journals: settings.KM0_LEDGER_JOURNALS.filter((path) => existsSync(path)),
            rules: positionsRules(),
          },
          { span: { fromMs: span.fromMs, toMs: span.toMs }, signal, onProgress },
        ),
      ),
    nowMs: Date.now,
    onEnd: (run, count, error) => {
      if (count === null) log.warn({ err: error, ...run }, 'a ledger could not be made')
      else {
        unnamed.set(count)
        if (count > 0) log.error({ ...run, unnamed: count }, 'a ledger does not balance')
      }
    },
    onTrouble: (error) =>
      isSchemaMissing(error)
        ? log.info('the tables of the ledger are not there yet: the stream program makes them')
        : log.warn({ err: error }, 'runs of the ledger cannot be read'),
  })
  health.register('ledger', () => (worker.trouble === null ? { status: 'ok' } : { status: 'degraded', detail: worker.trouble }))
  worker.start()
  return {
    close: async () => {
      await worker.close()
      await Promise.all([serving.close(), store.close(), runs.close()])
    },
  }
}

/** The rules of the windowing job. Delay and allowed lateness are records of the log. */
function positionsRules() {
  const { positions } = loadSettings('batch', process.env, (text, file) => readPipelineSettings(text, file, process.env))
  const { version: _version, ...rules } = positions
  const { delayMs, allowedLatenessMs } = DEFAULT_POSITIONS_SETTINGS
  return { ...rules, delayMs, allowedLatenessMs }
}
