import { describe, expect, it } from 'vitest'
import { type HeartbeatSituation, holdReason } from './heartbeat-rule.ts'
import { LatenessTracker } from './lateness.ts'

const T0 = 1_772_442_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const settings = { settleMs: 30_000, backlogLimitMs: 120_000, delayMs: 45_000 }
const calm: HeartbeatSituation = {
  nowMs: T0,
  connectedSinceMs: T0 - HOUR,
  outageEndedMs: null,
  waitingForKafka: false,
  medianExcessLatenessMs: 1_200,
}
const hold = (change: Partial<HeartbeatSituation>) => holdReason({ ...calm, ...change }, settings)

describe('when heartbeats are held back', () => {
  it('not in calm times, and not while the whole fleet sleeps', () => {
    expect(hold({})).toBeNull()
    expect(hold({ medianExcessLatenessMs: null })).toBeNull()
  })

  it('without a connection, and for 30 s after one', () => {
    expect(hold({ connectedSinceMs: null })).toBe('not-connected')
    expect(hold({ connectedSinceMs: T0 - 29_999 })).toBe('just-connected')
    expect(hold({ connectedSinceMs: T0 - 30_000 })).toBeNull()
  })

  it('while messages wait for Kafka, however long', () => {
    expect(hold({ waitingForKafka: true })).toBe('waiting-for-kafka')
    expect(hold({ waitingForKafka: true, connectedSinceMs: T0 - 24 * HOUR })).toBe('waiting-for-kafka')
  })

  it('after a connection while the fleet is late by more than half the delay, for 120 s at most', () => {
    const late = { medianExcessLatenessMs: 22_501 }
    expect(hold({ ...late, connectedSinceMs: T0 - 31_000 })).toBe('backlog')
    expect(hold({ ...late, connectedSinceMs: T0 - 119_999 })).toBe('backlog')
    expect(hold({ ...late, connectedSinceMs: T0 - 120_000 })).toBeNull()
    expect(hold({ medianExcessLatenessMs: 22_500, connectedSinceMs: T0 - 31_000 })).toBeNull()
  })

  it('the same after a Kafka outage', () => {
    const late = { medianExcessLatenessMs: 300_000 }
    expect(hold({ ...late, outageEndedMs: T0 - 60_000 })).toBe('backlog')
    expect(hold({ ...late, outageEndedMs: T0 - 120_000 })).toBeNull()
  })

  it('lateness alone, with no recovery before it, holds nothing back', () => {
    expect(hold({ medianExcessLatenessMs: 600_000 })).toBeNull()
  })
})

describe('one van alone at night with a clock 30 s slow, 139 off', () => {
  const reconnected = T0 + 2 * HOUR

  /** Seconds after the reconnect until the first heartbeat, when the lone van sends every 10 s. */
  function silenceAfterReconnect(tracker: LatenessTracker): number {
    for (let seconds = 0; seconds <= 300; seconds += 10) {
      const nowMs = reconnected + seconds * 1000
      tracker.observe('furgoneta-1', nowMs - 30_000, nowMs, false)
      const situation = {
        ...calm,
        nowMs,
        connectedSinceMs: reconnected,
        medianExcessLatenessMs: tracker.medianExcessMs(reconnected, nowMs),
      }
      if (holdReason(situation, settings) === null) return seconds
    }
    return Number.POSITIVE_INFINITY
  }

  it('is known to be slow, so heartbeats come 30 s after a reconnect and all are listed silent in time', () => {
    const tracker = new LatenessTracker()
    for (let atMs = T0; atMs < reconnected; atMs += 10_000) {
      tracker.observe('furgoneta-1', atMs - 30_000, atMs, true)
      if (atMs < T0 + HOUR) for (let van = 2; van <= 140; van += 1) tracker.observe(`furgoneta-${van}`, atMs - 1_200, atMs, true)
    }
    expect(silenceAfterReconnect(tracker)).toBe(30)
  })

  it('holds them 120 s at most where nothing is known of it (the bridge is new)', () => {
    expect(silenceAfterReconnect(new LatenessTracker())).toBe(120)
  })

  it('counts one value a van: a chatty late one does not outvote two that are on time', () => {
    const tracker = new LatenessTracker()
    for (let n = 0; n < 1_000; n += 1) tracker.observe('late', T0 - 600_000 + n, T0 + n, false)
    tracker.observe('a', T0, T0 + 1_000, false)
    tracker.observe('b', T0, T0 + 2_000, false)
    expect(tracker.medianExcessMs(T0, T0 + 2_000)).toBe(2_000)
  })

  it('learns nothing while a backlog drains', () => {
    const tracker = new LatenessTracker()
    tracker.observe('a', T0 - HOUR, T0, false)
    expect(tracker.medianExcessMs(T0, T0)).toBe(HOUR)
  })

  it('forgets what is older than a day, and the longest silent van when there are too many', () => {
    const tracker = new LatenessTracker(2)
    tracker.observe('a', T0 - 30_000, T0, true)
    tracker.observe('a', T0 + 25 * HOUR - 30_000, T0 + 25 * HOUR, false)
    expect(tracker.medianExcessMs(T0, T0 + 25 * HOUR)).toBe(30_000)
    tracker.observe('b', T0, T0, true)
    tracker.observe('c', T0, T0, true)
    expect(tracker.medianExcessMs(T0 + HOUR, T0 + 25 * HOUR)).toBeNull()
  })

  it('ignores times that are none', () => {
    const tracker = new LatenessTracker()
    for (const eventMs of [null, Number.NaN, Number.POSITIVE_INFINITY, 1.5]) tracker.observe('a', eventMs, T0, true)
    expect(tracker.medianExcessMs(0, T0)).toBeNull()
  })
})
