import { DEFAULT_POSITIONS_SETTINGS, encodeSource, type MarkValue, TOPICS } from '@km0/contracts'
import { LATE_POSITIONS, type LakeWriter, POSITIONS, rowMaker } from '@km0/lake'
import { createPositionsHost } from '@km0/pipelines'
import type { Serving } from '@km0/serving'
import { feed, type LogRecord, LogWriter, MINUTE, SECOND } from '../laws/driver.ts'

export const HOUR = 60 * MINUTE

/** A van that sends a point each `everyMs` while it drives; what it makes while its phone is off comes when it is on again. */
export interface Drive {
  readonly van: string
  readonly fromMs: number
  readonly toMs: number
  readonly everyMs?: number
  readonly offFromMs?: number
  readonly offToMs?: number
}

/** The log of one partition in order of arrival, with a heartbeat each minute until `untilMs`. */
export function logOf(partition: number, untilMs: number, drives: readonly Drive[]): LogRecord[] {
  const sent: { atMs: number; write: (writer: LogWriter) => void }[] = []
  for (const { van, fromMs, toMs, everyMs = 20 * SECOND, offFromMs = 0, offToMs = 0 } of drives) {
    for (let ms = fromMs; ms < toMs; ms += everyMs) {
      const isOff = ms >= offFromMs && ms < offToMs
      const arrivalMs = (isOff ? offToMs : ms) + SECOND
      const turn = ms / 47_000
      sent.push({
        atMs: arrivalMs,
        write: (writer) => writer.position(van, ms, 41.98 + Math.sin(turn) / 50, 2.82 + Math.cos(turn / 2) / 50, arrivalMs),
      })
    }
  }
  const firstMs = Math.min(...drives.map((drive) => drive.fromMs))
  for (let ms = firstMs; ms <= untilMs; ms += MINUTE) sent.push({ atMs: ms, write: (writer) => writer.heartbeat(ms) })
  const writer = new LogWriter(partition)
  for (const { write } of sent.sort((a, b) => a.atMs - b.atMs)) write(writer)
  return writer.records
}

/** Puts records into the lake as its role does. */
export async function fillLake(writer: LakeWriter, records: readonly LogRecord[]): Promise<void> {
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  for (const partition of new Set(records.map((record) => record.partition))) {
    const fromOffset = await writer.nextOffset(POSITIONS, partition)
    const own = records.filter((record) => record.partition === partition && record.offset >= fromOffset)
    if (own.length === 0) continue
    const rows = own.map(({ offset, timestampMs, text }) =>
      maker.row({ partition, offset, timestampMs, key: null, value: Buffer.from(text ?? ''), headers: {} }),
    )
    const nextOffset = fromOffset + own.length
    const batch = {
      table: POSITIONS,
      partition,
      fromOffset,
      nextOffset,
      rows: rows.filter((row) => row !== null),
      newestArrivalMs: null,
      newestEventMs: null,
    }
    await writer.append([batch])
  }
}

/** Runs the live job over a log, stores its rows, and puts its late side output into the lake. */
export async function runLiveInto(serving: Serving, writer: LakeWriter, records: readonly LogRecord[]): Promise<void> {
  const late: { key: string; value: string; timestampMs: number; headers: Record<string, string> }[] = []
  for (const partition of new Set(records.map((record) => record.partition))) {
    const host = createPositionsHost(DEFAULT_POSITIONS_SETTINGS)
    const results: { offset: number; key: string | null; value: Buffer; headers: Record<string, string> }[] = []
    for (const record of records.filter((one) => one.partition === partition)) {
      feed(host, record)
      for (const emission of host.drain()) {
        const headers = encodeSource({ epoch: 1, partition, offset: record.offset })
        if (emission.output === 'tardans')
          late.push({ key: emission.key ?? '', value: emission.value, timestampMs: record.timestampMs, headers })
        if (emission.output !== 'panell') continue
        results.push({ offset: results.length, key: emission.key, value: Buffer.from(emission.value), headers })
      }
    }
    const last = records.findLast((record) => record.partition === partition)
    const mark: MarkValue = {
      particio: partition,
      offset: last?.offset ?? 0,
      epoca: 1,
      marca_aigua_ms: last?.timestampMs ?? null,
      progres_ms: last?.timestampMs ?? null,
      darrer_batec_ms: null,
      darrer_registre_ms: null,
    }
    const key = String(partition)
    const headers = encodeSource({ epoch: 1, partition, offset: mark.offset })
    const told = [{ offset: 0, key, value: Buffer.from(JSON.stringify(mark)), headers }]
    await serving.applyMarkBatch({ topic: TOPICS.marks.name, partition, nextOffset: 1, clusterId: 'test', records: told, writtenAtMs: 0 })
    for (let at = 0; at < results.length; at += 2_000) {
      const some = results.slice(at, at + 2_000)
      const nextOffset = at + some.length
      await serving.applyPanelBatch({ topic: TOPICS.panel.name, partition, nextOffset, clusterId: 'test', records: some, writtenAtMs: 0 })
    }
  }
  await serving.applyLateBatch({
    topic: TOPICS.late.name,
    partition: 0,
    nextOffset: late.length,
    clusterId: 'test',
    records: late.map(({ key, value, headers }, offset) => ({ offset, key, value: Buffer.from(value), headers })),
    writtenAtMs: 0,
  })
  const maker = rowMaker(LATE_POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  const rows = late.map(({ key, value, timestampMs, headers }, offset) =>
    maker.row({ partition: 0, offset, timestampMs, key, value: Buffer.from(value), headers }),
  )
  await writer.nextOffset(LATE_POSITIONS, 0)
  await writer.append([
    {
      table: LATE_POSITIONS,
      partition: 0,
      fromOffset: 0,
      nextOffset: rows.length,
      rows: rows.filter((row) => row !== null),
      newestArrivalMs: null,
      newestEventMs: null,
    },
  ])
}
