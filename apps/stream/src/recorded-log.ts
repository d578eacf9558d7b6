import type { LogRecord } from '@km0/transport'

export const RECORDED_AT_MS = 1_789_380_000_000
/** Where the recorded state was taken. */
export const RECORDED_CUT = 700

/**
 * A small log for tests with what a state can hold: three vans, one with pauses of minutes, points that are late by up to three minutes,
 * an allowed lateness of two minutes (so revisions), heartbeats. One record a second; the same each time.
 */
export function recordedLog(): LogRecord[] {
  const values: object[] = [{ tipus: 'parametres', data_ms: RECORDED_AT_MS, retard_ms: 45_000, marge_ms: 120_000 }]
  for (let second = 1; second < 1_400; second += 1) {
    const nowMs = RECORDED_AT_MS + second * 1_000
    if (second % 10 === 0) values.push({ tipus: 'batec', data_ms: nowMs })
    else {
      const van = second % 600 < 300 && second % 3 === 1 ? 0 : second % 3
      const lateMs = second % 17 === 0 ? 180_000 : second % 5 === 0 ? 20_000 : 0
      values.push({
        repartidor: ['furgoneta-3', '__proto__', 'cotxe-ç'][van],
        lat: 41.9 + second / 1e4,
        lon: 2.8 - (second % 7) / 1e4,
        data_ms: nowMs - lateMs,
      })
    }
  }
  return values.map((value, offset) => ({
    partition: 3,
    offset,
    timestampMs: RECORDED_AT_MS + offset * 1_000,
    key: null,
    value: Buffer.from(JSON.stringify(value)),
    headers: {},
  }))
}
