import type { Log } from '@km0/transport'
import { groupHealth, type Role, type StreamProgram } from '../role.ts'
import type { ResultSink } from './result-sink.ts'

const RETENTION_EVERY_MS = 3_600_000
/** Few large writes: what is live the panel reads from the log itself. */
const FETCH = { minBytes: 65_536, maxWaitMs: 250 }

export interface RunningSinkOptions {
  readonly sink: ResultSink
  readonly groupId: string
  /** Of the group's part of the health report. */
  readonly groupName: string
  /** Drops what is kept no longer; called at the start and every hour. A failure is said and tried again. */
  readonly dropOld: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Reads the topics of a sink until it is stopped. */
export async function startSink(program: StreamProgram, log: Log, options: RunningSinkOptions): Promise<Role> {
  const { settings } = program
  const { sink } = options
  await sink.prepare()
  const consumer = await log.consumePartitions({
    groupId: options.groupId,
    topics: sink.topics,
    onStart: (topic, partition, firstOffset) => sink.start(topic, partition, firstOffset),
    onSlice: (slice) => sink.apply(slice),
    onDrop: () => undefined,
    onSkipped: (topic, partition, nextOffset) => sink.skipped(topic, partition, nextOffset),
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: settings.KM0_STREAM_SESSION_TIMEOUT_MS,
    ...FETCH,
  })
  program.health.register(options.groupName, () => groupHealth(consumer))
  const dropOld = async () => {
    try {
      await options.dropOld()
    } catch (error) {
      program.log.warn({ err: error }, 'old rows could not be dropped; they are tried again in an hour')
    }
  }
  const retention = setInterval(() => void dropOld(), RETENTION_EVERY_MS)
  await dropOld()
  return {
    stop: async () => {
      clearInterval(retention)
      await consumer.stop()
      await options.close()
    },
  }
}
