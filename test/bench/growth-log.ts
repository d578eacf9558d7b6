import type { LogRecord } from '@km0/transport'

/** One point of the growth of the live job. */
export interface Size {
  readonly vans: number
  readonly partitions: number
  /** Share of positions that arrive behind the watermark or after a part of their windows was closed. */
  readonly lateShare: number
  readonly minutes: number
}

export const POINT_EVERY_MS = 5_000
const START_MS = 1_789_380_000_000
/** Behind the delay of 45 s and before the end of the allowed lateness of the stream. */
const LATE_BY_MS = 90_000

/** Values of one partition at one tick: a heartbeat, then each van of the partition once. The same call gives the same values. */
function valuesAt({ vans, partitions, lateShare }: Size, partition: number, tick: number): string[] {
  const nowMs = START_MS + tick * POINT_EVERY_MS
  const values = [`{"tipus":"batec","data_ms":${nowMs}}`]
  for (let van = partition; van < vans; van += partitions) {
    const place = `"lat":${(41.9 + (van % 977) / 1e4 + tick / 1e5).toFixed(6)},"lon":${(2.8 + (van % 613) / 1e4).toFixed(6)}`
    // Spread over vans and ticks without a random number.
    const isLate = ((van * 7_919 + tick * 104_729) % 1_000) / 1_000 < lateShare
    const dataMs = nowMs - (van % 2_000) - (isLate ? LATE_BY_MS : 0)
    values.push(`{"repartidor":"furgoneta-${van}",${place},"data_ms":${dataMs}}`)
  }
  return values
}

/** Records of one partition at one tick, at the offsets after `offset`. */
export function recordsAt(size: Size, partition: number, tick: number, offset: number): LogRecord[] {
  const timestampMs = START_MS + tick * POINT_EVERY_MS
  return valuesAt(size, partition, tick).map((text, index) => ({
    partition,
    offset: offset + index,
    timestampMs,
    key: null,
    value: Buffer.from(text, 'latin1'),
    headers: {},
  }))
}
