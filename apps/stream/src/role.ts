import type { PipelineSettings } from '@km0/contracts/pipeline-settings'
import type { PartHealth, Program, Tracer } from '@km0/runtime'
import type { Log, PartitionConsumer } from '@km0/transport'
import type { StreamSettings } from './environment.ts'

export interface StreamProgram extends Program<StreamSettings> {
  readonly pipelines: PipelineSettings
  /** Null while nothing is traced. */
  readonly tracer?: Tracer | null
}

/** What a role leaves to be stopped. */
export interface Role {
  stop(): Promise<void>
}

/** Starts a role. Rejects when it cannot; `program.shutdown.fail` is called when it breaks later. */
export type StartRole = (program: StreamProgram, log: Log) => Promise<Role>

/** A group that is joined for longer than this is stuck. */
const JOIN_LIMIT_MS = 30_000

/** Heartbeats are answered every 1.5 s; the session of the group ends after 6 s without one. */
const SILENCE_LIMIT_MS = 10_000

/** Health of a group's member: down while it cannot join or hears nothing, spare when there are fewer partitions than members. */
export function groupHealth(
  consumer: Pick<PartitionConsumer, 'assignment' | 'assignmentSinceMs' | 'lastContactMs'>,
  nowMs = Date.now(),
): PartHealth {
  const assignment = consumer.assignment()
  if (assignment === null) {
    const sinceMs = nowMs - consumer.assignmentSinceMs()
    const detail = `joining the group for ${Math.round(sinceMs / 1000)} s`
    return sinceMs > JOIN_LIMIT_MS ? { status: 'down', detail } : { status: 'degraded', detail }
  }
  const silenceMs = nowMs - consumer.lastContactMs()
  if (silenceMs > SILENCE_LIMIT_MS) return { status: 'down', detail: `no answer from the log for ${Math.round(silenceMs / 1000)} s` }
  const partitions = [...assignment.values()].reduce((sum, list) => sum + list.length, 0)
  return partitions === 0 ? { status: 'ok', detail: 'spare: no partition is left for this instance' } : { status: 'ok' }
}
