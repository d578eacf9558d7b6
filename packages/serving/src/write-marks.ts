import { DEFAULT_OUTAGE_AFTER_MS, type MarkValue, type OutageValue, outageCause, SILENCE_STEPS_MS, type SilenceSteps } from '@km0/contracts'
import { bulkInsert, type Column, replacing } from './bulk-insert.ts'
import { decodeMarks, type RefusedResult } from './decode.ts'
import { tellSilences } from './events/tell-silences.ts'
import { lockOffset, moveOffset } from './offsets.ts'
import type { Client, Pool } from './pool.ts'
import type { LiveBatch } from './write-live.ts'

export interface MarkBatch extends LiveBatch {
  /** Without a heartbeat for longer than this nobody knows whether a van is silent. */
  readonly outageAfterMs?: number
  /** A silence is told of after so long, growing. Default: SILENCE_STEPS_MS. */
  readonly silenceStepsMs?: SilenceSteps
}

/**
 * Applies records of the topic of marks: how far each source partition has come, and outages of ours; then tells of the silences that have lasted
 * long enough by it. One transaction with the offset.
 */
export async function applyMarkBatch(pool: Pool, batch: MarkBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeMarks(batch.records)
  const marks = new Map<number, MarkValue>()
  const outages = new Map<string, OutageValue>()
  for (const { value } of rows) {
    if ('tipus' in value) keepNewest(outages, `${value.particio}|${value.inici_ms}`, value)
    else keepNewest(marks, value.particio, value)
  }
  return pool.transaction('begin', async (client) => {
    if ((await lockOffset(client, batch)) >= batch.nextOffset) return []
    await writeMarks(
      client,
      [...marks.values()].sort((a, b) => a.particio - b.particio),
      batch.writtenAtMs,
    )
    await writeOutages(
      client,
      [...outages.values()].sort((a, b) => a.particio - b.particio || a.inici_ms - b.inici_ms),
    )
    const { outageAfterMs = DEFAULT_OUTAGE_AFTER_MS, silenceStepsMs = SILENCE_STEPS_MS, writtenAtMs } = batch
    await tellSilences(client, [...marks.keys()], { outageAfterMs, silenceStepsMs, writtenAtMs })
    await moveOffset(client, batch)
    return refused
  })
}

function keepNewest<Key, Value extends { readonly epoca: number; readonly offset: number }>(
  into: Map<Key, Value>,
  key: Key,
  value: Value,
): void {
  const known = into.get(key)
  if (known === undefined || value.epoca > known.epoca || (value.epoca === known.epoca && value.offset >= known.offset))
    into.set(key, value)
}

async function writeMarks(client: Client, marks: readonly MarkValue[], writtenAtMs: number): Promise<void> {
  const columns: Column[] = [
    { name: 'partition', type: 'integer', values: marks.map((mark) => mark.particio) },
    { name: 'next_offset', type: 'bigint', values: marks.map((mark) => mark.offset) },
    { name: 'watermark_ms', type: 'bigint', values: marks.map((mark) => mark.marca_aigua_ms) },
    { name: 'progress_ms', type: 'bigint', values: marks.map((mark) => mark.progres_ms) },
    { name: 'heartbeat_ms', type: 'bigint', values: marks.map((mark) => mark.darrer_batec_ms) },
    { name: 'record_ms', type: 'bigint', values: marks.map((mark) => mark.darrer_registre_ms) },
    { name: 'epoch', type: 'integer', values: marks.map((mark) => mark.epoca) },
    { name: 'written_at_ms', type: 'bigint', values: marks.map(() => writtenAtMs) },
  ]
  const rest = columns.map(({ name }) => name).filter((name) => name !== 'partition')
  const forward = '(excluded.epoch, excluded.next_offset) >= (t.epoch, t.next_offset)'
  await bulkInsert(client, 'partition_mark', columns, `(partition) do update set ${replacing(rest)} where ${forward}`)
}

/** An outage is what the log says, so one that is applied again is the same row. */
async function writeOutages(client: Client, outages: readonly OutageValue[]): Promise<void> {
  const columns: Column[] = [
    { name: 'partition', type: 'integer', values: outages.map((outage) => outage.particio) },
    { name: 'from_ms', type: 'bigint', values: outages.map((outage) => outage.inici_ms) },
    { name: 'to_ms', type: 'bigint', values: outages.map((outage) => outage.fi_ms) },
    { name: 'cause', type: 'text', values: outages.map((outage) => outageCause(outage.causa)) },
    { name: 'epoch', type: 'integer', values: outages.map((outage) => outage.epoca) },
    { name: 'source_offset', type: 'bigint', values: outages.map((outage) => outage.offset) },
  ]
  const rest = columns.map(({ name }) => name).filter((name) => name !== 'partition' && name !== 'from_ms')
  const forward = '(excluded.epoch, excluded.source_offset) >= (t.epoch, t.source_offset)'
  await bulkInsert(client, 'outage', columns, `(partition, from_ms) do update set ${replacing(rest)} where ${forward}`)
}
