import type { LinedHost, MarkValue } from '@km0/contracts'
import { finiteOrNull } from '@km0/windowing'
import type { HeartbeatWatch } from '../heartbeat-watch.ts'

/** What a host knows of one source partition beside its pipeline. */
export interface PartitionPlace {
  readonly partition: number
  readonly epoch: number
  readonly nextOffset: number
  /** Greatest record timestamp so far; null before the first record. */
  readonly recordMs: number | null
  readonly heartbeats: HeartbeatWatch
  readonly host: Pick<LinedHost, 'watermarkMs' | 'progressMs'>
}

/** How far a partition has come, as the value of a record of the topic of marks: JSON text, the same from every host. */
export function markText({ partition, epoch, nextOffset, recordMs, heartbeats, host }: PartitionPlace): string {
  const value: MarkValue = {
    particio: partition,
    offset: nextOffset,
    marca_aigua_ms: finiteOrNull(host.watermarkMs(partition)),
    progres_ms: finiteOrNull(host.progressMs(partition)),
    darrer_batec_ms: heartbeats.heartbeatMs,
    darrer_registre_ms: recordMs,
    epoca: epoch,
  }
  return JSON.stringify(value)
}
