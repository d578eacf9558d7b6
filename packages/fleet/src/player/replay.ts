import { encodePosition, positionTopic } from '@km0/contracts'
import type { Outgoing } from '../messages/outgoing.ts'
import type { RecordedFix } from './recording.ts'

const MINUTE_MS = 60_000

/** Milliseconds to add so that the first arrival is at `beginMs`. */
export function shiftToBegin(fixes: readonly RecordedFix[], beginMs: number): number {
  return beginMs - (fixes[0]?.arrivalMs ?? beginMs)
}

/**
 * Milliseconds to add so that the last arrival is at `endMs` or up to a minute before: whole minutes, so that windows begin and end
 * where they did in the recording.
 */
export function shiftToEnd(fixes: readonly RecordedFix[], endMs: number): number {
  return Math.floor((endMs - (fixes.at(-1)?.arrivalMs ?? endMs)) / MINUTE_MS) * MINUTE_MS
}

/** The recording's messages, moved in time; fixes in order of arrival. */
export function* replay(fixes: readonly RecordedFix[], shiftMs: number): Generator<Outgoing, void> {
  for (const fix of fixes) {
    const eventMs = fix.eventMs + shiftMs
    yield {
      topic: positionTopic(fix.van),
      payload: encodePosition({ van: fix.van, lat: fix.lat, lon: fix.lon, eventMs }),
      arrivalMs: fix.arrivalMs + shiftMs,
      van: fix.van,
      eventMs,
      fault: null,
    }
  }
}
