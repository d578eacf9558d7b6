// One run: faults as the schedule has them, each with its recovery.
import { setTimeout as sleep } from 'node:timers/promises'
import { inflict } from './faults.ts'
import { Flow, placeOf } from './flow.ts'
import type { ChaosPlatform } from './platform.ts'
import { type Card, nameOf, type Schedule } from './schedule.ts'
import { recoveryLine } from './summary.ts'

/** Goal is 10 s; this is where waiting ends. */
const RECOVERS_WITHIN_MS = 150_000

/** What a fault did. */
export interface Recovery {
  readonly name: string
  /** From the kill, or the end of what lasted, to results that were measured later; null when none came. */
  readonly tookMs: number | null
  /** Another fault came before it was over, or it came before another was over. */
  readonly overlapped: boolean
  /** Machine time of the kill, or of the end. */
  readonly atMs: number
  readonly card: Card
  /** Why it could not be done. */
  readonly problem: string | null
}

export async function runSchedule(
  platform: ChaosPlatform,
  schedule: Schedule,
  seed: number,
  seconds: number,
  say: (line: string) => void,
): Promise<{ readonly recoveries: readonly Recovery[]; readonly left: number }> {
  const flow = new Flow(platform)
  const startMs = performance.now()
  const secondsSoFar = () => (performance.now() - startMs) / 1000
  const tell = (line: string) => say(`${clock(secondsSoFar())}  ${line}`)
  const under: Promise<Recovery>[] = []
  let left = 0
  let waiting = 0
  for (const [index, card] of schedule.cards.entries()) {
    if (!card.together) await Promise.all(under)
    await sleep(Math.max(0, card.atS - secondsSoFar()) * 1000)
    // Recoveries took their time: what would end far behind the run's end is left out.
    if (secondsSoFar() + card.lastsS > seconds + card.lastsS) {
      left = schedule.cards.length - index
      break
    }
    const next = schedule.cards[index + 1]
    const overlapped = waiting > 0 || next?.together === true
    waiting += 1
    under.push(
      one(platform, flow, card, { number: index, seed, overlapped, tell }).finally(() => {
        waiting -= 1
      }),
    )
  }
  const recoveries = await Promise.all(under)
  await flow.close()
  return { recoveries, left }
}

interface Context {
  readonly number: number
  readonly seed: number
  readonly overlapped: boolean
  readonly tell: (line: string) => void
}

async function one(platform: ChaosPlatform, flow: Flow, card: Card, { number, seed, overlapped, tell }: Context): Promise<Recovery> {
  const name = nameOf(card.fault)
  tell(card.lastsS > 0 ? `${name} for ${card.lastsS} s` : name)
  const common = { name, overlapped, card }
  try {
    const atMs = await inflict(platform, card, number, seed)
    const tookMs = await flow.resumes(placeOf(card.fault), atMs, RECOVERS_WITHIN_MS)
    tell(tookMs === null ? `${name}: NO RESULTS after ${RECOVERS_WITHIN_MS / 1000} s` : recoveryLine(name, tookMs, overlapped))
    return { ...common, tookMs, atMs, problem: tookMs === null ? `no results within ${RECOVERS_WITHIN_MS / 1000} s` : null }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    tell(`${name}: FAILED: ${problem}`)
    return { ...common, tookMs: null, atMs: Date.now(), problem }
  }
}

const clock = (seconds: number) => {
  const whole = Math.floor(seconds)
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`
}
