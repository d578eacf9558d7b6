import { TOPICS } from '@km0/contracts'
import { Histogram, type Registry } from '@km0/runtime'
import { silenceStepsMs } from '@km0/runtime/silence-steps'
import { type MarkBatch, openServing, type Serving } from '@km0/serving'
import type { Log } from '@km0/transport'
import { platformClock } from './platform-clock.ts'
import type { Role, StreamProgram } from './role.ts'
import { ResultSink, type WriteBatch } from './sink/result-sink.ts'
import { startSink } from './sink/start-sink.ts'

export const SERVING_GROUP = 'km0-serving'

/** Writes results of positions to PostgreSQL, and brings its schema up to date. */
export async function startServing(program: StreamProgram, log: Log): Promise<Role> {
  const { settings } = program
  const serving = openServing({
    databaseUrl: settings.DATABASE_URL,
    applicationName: 'km0-stream-serving',
    onError: (error) => program.log.warn({ err: error }, 'a connection to PostgreSQL was lost'),
  })
  const clock = platformClock(settings.KM0_CLOCK)
  const sink = new ResultSink(program, log, {
    name: 'postgres',
    metricPrefix: 'km0_serving',
    topics: tableOf(serving, resultDelay(program.metrics), {
      outageAfterMs: settings.KM0_OUTAGE_AFTER_MS,
      silenceStepsMs: silenceStepsMs(settings),
    }),
    store: serving,
    clusterId: await log.clusterId(),
    clock,
  })
  const applied = await sink.persist(() => serving.migrate())
  if (applied.length > 0) program.log.info({ migrations: applied }, 'database migrated')
  const { KM0_RESULT_RETENTION_DAYS: resultDays, KM0_TRACK_RETENTION_DAYS: trackDays } = settings
  return startSink(program, log, {
    sink,
    groupId: SERVING_GROUP,
    groupName: 'group',
    dropOld: async () => {
      const dropped = await serving.dropOldDays({ resultDays, trackDays }, clock.nowMs())
      if (dropped.length > 0) program.log.info({ dropped }, 'old days were dropped')
    },
    close: () => serving.close(),
  })
}

function tableOf(
  serving: Serving,
  delay: Histogram,
  rules: Pick<MarkBatch, 'outageAfterMs' | 'silenceStepsMs'>,
): Record<string, WriteBatch> {
  return {
    [TOPICS.panel.name]: async (batch) => {
      const { distanceEndsMs, refused } = await serving.applyPanelBatch(batch)
      for (const endMs of distanceEndsMs) delay.observe((batch.writtenAtMs - endMs) / 1000)
      return refused
    },
    [TOPICS.live.name]: (batch) => serving.applyLiveBatch(batch),
    [TOPICS.late.name]: (batch) => serving.applyLateBatch(batch),
    [TOPICS.marks.name]: (batch) => serving.applyMarkBatch({ ...batch, ...rules }),
  }
}

/** Around the budget of 60 s, finer: that is what is looked at. */
const DELAY_BUCKETS_S = [1, 5, 10, 20, 30, 40, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 65, 70, 80, 100, 150, 300, 1_800, 7_200]

const resultDelay = (registry: Registry) =>
  new Histogram({
    name: 'km0_serving_result_delay_seconds',
    help: 'From the end of a distance window to its row in PostgreSQL',
    buckets: DELAY_BUCKETS_S,
    registers: [registry],
  })
