import { encodeClock, MQTT_TOPICS } from '@km0/contracts'
import type { Outgoing } from './outgoing.ts'

export interface TickSettings {
  /** First tick. */
  readonly fromMs: number
  /** Longest time between two ticks. */
  readonly everyMs: number
  /** A message whose arrival is so much later than the newest tick is preceded by one of its own; 1 gives every arrival exactly. */
  readonly grainMs: number
  /** Last tick; Infinity goes on for ever after the last message. */
  readonly untilMs: number
}

/**
 * The messages with the clock among them: each tick is at most the arrival of every message after it, ticks never go back,
 * and no two are further apart than `everyMs`. Throws a RangeError when messages are not in order of arrival.
 */
export function* withTicks(messages: Iterable<Outgoing>, settings: TickSettings): Generator<Outgoing, void> {
  let tickMs = settings.fromMs
  let arrivalMs = Number.NEGATIVE_INFINITY
  yield tick(tickMs)
  for (const message of messages) {
    if (message.arrivalMs < arrivalMs) throw new RangeError('messages are not in order of arrival')
    arrivalMs = message.arrivalMs
    while (tickMs + settings.everyMs <= arrivalMs) {
      tickMs += settings.everyMs
      yield tick(tickMs)
    }
    if (arrivalMs - tickMs >= settings.grainMs) {
      tickMs = arrivalMs
      yield tick(tickMs)
    }
    yield message
  }
  while (tickMs < settings.untilMs) {
    tickMs = Math.min(settings.untilMs, tickMs + settings.everyMs)
    yield tick(tickMs)
  }
}

function tick(nowMs: number): Outgoing {
  return { topic: MQTT_TOPICS.clock, payload: encodeClock(nowMs), arrivalMs: nowMs, van: null, eventMs: null, fault: null }
}
