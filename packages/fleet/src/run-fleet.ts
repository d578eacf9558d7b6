import type { Episode } from './faults/episodes.ts'
import { fleetStream } from './messages/fleet-stream.ts'
import type { Outgoing } from './messages/outgoing.ts'
import { withTicks } from './messages/ticks.ts'
import type { FleetSettings } from './messages/van-messages.ts'
import type { FleetCommand } from './options.ts'
import { advance, ClockMemory, firstInstant, without } from './publishing/clock-memory.ts'
import { duration } from './publishing/narrator.ts'
import type { Pace } from './publishing/pace.ts'
import { pump } from './publishing/pump.ts'
import { openSession, type Session } from './publishing/session.ts'

const MINUTE_MS = 60_000
/** Longest time between two ticks of the clock. */
const TICK_MS = 1_000
/** How exact arrivals are on the clock. Finer would send a tick with almost every position. */
const GRAIN_MS = 250
/** What the machine slept through is not sent afterwards. */
const MAX_BEHIND_MS = 30 * MINUTE_MS
const STATUS_EVERY_MS = MINUTE_MS

export function settingsOf(command: FleetCommand, startMs: number): FleetSettings {
  const { seed, vans, intervalMs, hours, rates, wrongClock, forced } = command
  return { seed, vans, intervalMs, hours, rates, wrongClock, forced, startMs }
}

/** Lives the fleet until it is stopped. */
export async function runFleet(command: FleetCommand): Promise<void> {
  const session = await openSession(command)
  const nowMs = Date.now()
  const memory = command.statePath === null || command.catchUpMinutes === null ? null : new ClockMemory(command.statePath)
  const start = firstInstant((command.catchUpMinutes ?? 0) * MINUTE_MS, memory?.read() ?? null, nowMs)
  const fromMs = start.clockMs
  const ownsClock = command.catchUpMinutes !== null
  const pace: Pace = { fromMs, machineMs: nowMs, speed: ownsClock ? command.speed : 1 }
  introduce(command, session, fromMs, nowMs)

  let progress = start
  session.onAcknowledged((message) => {
    progress = advance(progress, message.arrivalMs, message.van === null)
    memory?.save(progress, Date.now())
  })
  session.onFlushed(() => memory?.save(progress, Date.now(), true))
  const onEpisode = (van: string, episode: Episode) => session.narrator.episode(van, episode)
  const fleet = without(start.messages, fleetStream(settingsOf(command, fromMs), fromMs, onEpisode))
  const ticks = { fromMs, everyMs: TICK_MS, grainMs: GRAIN_MS, untilMs: Number.POSITIVE_INFINITY }
  const messages: Iterable<Outgoing> = ownsClock ? withTicks(fleet, ticks) : fleet
  const status = reportStatus(session, command.vans)
  const { skipped } = await pump(messages, {
    pace,
    window: session.window,
    signal: session.signal,
    maxBehindMs: MAX_BEHIND_MS,
    onPublished: (message, behindMs) => {
      session.published(message, behindMs)
      session.narrator.fault(message)
    },
    onMet: () => {
      if (!ownsClock) return
      const seconds = ((Date.now() - nowMs) / 1000).toFixed(1)
      session.narrator.say(
        `the fleet is at the present after ${seconds} s and ${session.window.acknowledged} messages; from now on speed 1`,
      )
    },
  })
  clearInterval(status)
  if (skipped > 0) session.narrator.say(`${skipped} messages were left out: the machine slept or the broker was away for too long`)
}

function introduce(command: FleetCommand, session: Session, fromMs: number, nowMs: number): void {
  const { narrator } = session
  const hours = command.hours === 'always' ? 'most of them on the road at any hour' : 'with the shifts of Madrid'
  narrator.say(`${command.vans} vans, a fix every ${command.intervalMs / 1000} s, seed ${command.seed}, ${hours}`)
  if (command.catchUpMinutes !== null) {
    narrator.say(`living the last ${duration(nowMs - fromMs)} first, at speed ${command.speed}, as owner of the clock`)
  }
  for (const fault of command.forced) narrator.say(`forced ${fault.atS} s after the start: ${fault.kind} of ${fault.van}`)
}

function reportStatus(session: Session, vans: number): NodeJS.Timeout {
  let before = 0
  const timer = setInterval(() => {
    const { acknowledged, inFlight } = session.window
    const perSecond = (acknowledged - before) / (STATUS_EVERY_MS / 1000)
    before = acknowledged
    session.narrator.at(
      Date.now(),
      `${vans} vans, ${perSecond.toFixed(1)} messages a second, ${acknowledged} in all, ${inFlight} under way`,
    )
  }, STATUS_EVERY_MS)
  timer.unref()
  return timer
}
