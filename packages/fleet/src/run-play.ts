import type { Outgoing } from './messages/outgoing.ts'
import { withTicks } from './messages/ticks.ts'
import type { PlayCommand } from './options.ts'
import { moveToGirona } from './player/girona.ts'
import { type Recording, readRecording } from './player/recording.ts'
import { replay, shiftToBegin, shiftToEnd } from './player/replay.ts'
import { duration } from './publishing/narrator.ts'
import type { Pace } from './publishing/pace.ts'
import { ProgressBar } from './publishing/progress.ts'
import { pump } from './publishing/pump.ts'
import { openSession, type Session } from './publishing/session.ts'

const TICK_MS = 1_000
/** Every arrival is on the clock exactly, so that the log depends on the recording alone. */
const GRAIN_MS = 1

/** Plays a recorded day; ends after it, or ticks on as owner of the clock until it is stopped. */
export async function runPlay(command: PlayCommand): Promise<void> {
  const recording = await readRecording(command.path).catch((error: Error) => error)
  if (recording instanceof Error) return fail(`${command.path} cannot be read: ${recording.message}`)
  const complaints = recording.badLines.map(({ line, reason }) => `${command.path}: line ${line} ${reason}\n`)
  process.stderr.write(complaints.join(''))
  if (recording.badCount > 0) process.stderr.write(`${command.path}: ${recording.badCount} bad lines in all\n`)
  if (command.strict && recording.badCount > 0) return fail('stopped by --strict: nothing was sent')
  if (recording.fixes.length === 0) return fail(`${command.path} holds no fix`)

  const session = await openSession(command)
  const nowMs = Date.now()
  const { messages, pace, lastMs } = prepare(command, recording, nowMs)
  introduce(command, session, recording, pace, lastMs)
  const total = recording.fixes.length
  let done = 0
  let arrivalMs = pace.fromMs
  session.onAcknowledged((message) => {
    if (message.van !== null) done += 1
  })
  const bar = new ProgressBar(process.stdout, () => ({
    done,
    total,
    perSecond: done / ((Date.now() - nowMs) / 1000),
    leftMs: Math.max(0, lastMs - arrivalMs),
  }))
  let played = 0
  await pump(messages, {
    pace,
    window: session.window,
    signal: session.signal,
    maxBehindMs: Number.POSITIVE_INFINITY,
    onPublished: (message, behindMs) => {
      session.published(message, behindMs)
      arrivalMs = message.arrivalMs
      if (message.van === null) return
      played += 1
      if (played === total) sayPlayed(session, bar, total, nowMs)
    },
    onMet: () => session.narrator.say('the clock is at the present; from now on speed 1'),
  })
  bar.stop()
  await session.window.flush(session.signal)
  if (!session.signal.aborted) await session.end(0)
}

/** The messages, moved in time; how fast they go; and when the last one arrives. */
function prepare(command: PlayCommand, recording: Recording, nowMs: number): { messages: Iterable<Outgoing>; pace: Pace; lastMs: number } {
  const fixes = command.girona ? moveToGirona(recording.fixes) : recording.fixes
  const shiftMs = command.ownsClock ? shiftToEnd(fixes, (command.endMs ?? nowMs) - command.drainMs) : shiftToBegin(fixes, nowMs)
  const fromMs = fixes[0]!.arrivalMs + shiftMs
  const lastMs = fixes.at(-1)!.arrivalMs + shiftMs
  const pace = { fromMs, machineMs: nowMs, speed: command.speed }
  const positions = replay(fixes, shiftMs)
  if (!command.ownsClock) return { messages: positions, pace, lastMs }
  const untilMs = command.thenExit ? lastMs + command.drainMs : Number.POSITIVE_INFINITY
  return { messages: withTicks(positions, { fromMs, everyMs: TICK_MS, grainMs: GRAIN_MS, untilMs }), pace, lastMs }
}

function introduce(command: PlayCommand, session: Session, recording: Recording, pace: Pace, lastMs: number): void {
  const vans = new Set(recording.fixes.map((fix) => fix.van)).size
  const speed = Number.isFinite(pace.speed) ? `at speed ${pace.speed}` : 'as fast as it goes'
  const when = command.ownsClock ? `to end ${new Date(lastMs).toISOString()}` : 'to begin now'
  const span = duration(lastMs - pace.fromMs)
  session.narrator.say(`${command.path}: ${recording.fixes.length} fixes of ${vans} vans in ${span}, moved ${when}, ${speed}`)
}

function sayPlayed(session: Session, bar: ProgressBar, total: number, beganMs: number): void {
  bar.stop()
  const seconds = (Date.now() - beganMs) / 1000
  const rate = Math.round(session.window.acknowledged / seconds)
  session.narrator.say(`all ${total} fixes are out after ${seconds.toFixed(1)} s (${rate} messages a second, clock included)`)
}

function fail(reason: string): void {
  process.stderr.write(`fleet: ${reason}\n`)
  // As for wrong settings: whoever supervises knows that starting again is of no use.
  process.exitCode = 2
}
