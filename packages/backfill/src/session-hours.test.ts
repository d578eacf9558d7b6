import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hourOf, isClosed, type SessionSpan, sessionHours } from './session-hours.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const GAP = 3 * MINUTE
const T0 = Date.UTC(2026, 8, 14, 6)

/** Chains of points at most a gap apart. */
function sessionsOf(times: readonly number[]): SessionSpan[] {
  const found: { startMs: number; endMs: number }[] = []
  for (const ms of [...times].sort((a, b) => a - b)) {
    const last = found.at(-1)
    if (last !== undefined && ms - last.endMs <= GAP) last.endMs = ms
    else found.push({ startMs: ms, endMs: ms })
  }
  return found
}

describe('sessionHours', () => {
  const rule = { finalMs: T0 + 10 * HOUR, sessionGapMs: GAP }
  const asked = { fromMs: T0 + 2 * HOUR, toMs: T0 + 3 * HOUR }
  const at = (hours: number, minutes: number) => T0 + hours * HOUR + minutes * MINUTE
  const span = (startMs: number, endMs: number): SessionSpan => ({ startMs, endMs })

  it('leaves a range alone that no session crosses', () => {
    const sessions = [span(at(1, 10), at(1, 59)), span(at(2, 1), at(2, 50)), span(at(3, 0), at(4, 0))]
    expect(sessionHours(asked, sessions, sessions, rule).range).toEqual(asked)
  })

  it('joins the hour in which a session starts that reaches into the range, and the hours of what live has split', () => {
    const fresh = [span(at(0, 50), at(2, 5)), span(at(2, 55), at(4, 30))]
    const served = [span(at(0, 50), at(2, 1)), span(at(2, 55), at(3, 10)), span(at(3, 40), at(4, 20))]
    expect(sessionHours(asked, served, fresh, rule).range).toEqual({ fromMs: T0, toMs: at(4, 0) })
  })

  it('holds back a session that is still open, and what hangs together with it', () => {
    const open = { finalMs: at(4, 31), sessionGapMs: GAP }
    const fresh = [span(at(2, 10), at(2, 40)), span(at(2, 50), at(4, 30))]
    expect(sessionHours(asked, [], fresh, open).range).toBeNull()
    expect(sessionHours({ ...asked, fromMs: at(1, 0) }, [], fresh, open).range).toEqual({ fromMs: at(1, 0), toMs: at(2, 0) })
  })

  it('holds back a session that would bring in an hour that is not final', () => {
    const early = { finalMs: at(3, 20), sessionGapMs: GAP }
    const fresh = [span(at(2, 50), at(3, 10))]
    const served = [span(at(2, 50), at(2, 52)), span(at(3, 1), at(3, 10))]
    expect(sessionHours(asked, served, fresh, early)).toEqual({ needed: { fromMs: at(2, 0), toMs: at(4, 0) }, range: null })
  })
})

interface Version {
  readonly sessions: readonly SessionSpan[]
  readonly finalMs: number
  readonly needed: { readonly fromMs: number; readonly toMs: number }
  readonly asked: { readonly fromMs: number; readonly toMs: number }
}

/** The store in small: one van, live rows, versions, a pointer an hour, publications in a stack. */
class Store {
  readonly pointers = new Map<number, number>()
  readonly versions: Version[] = []
  readonly publications: { readonly moves: Map<number, [before: number | undefined, after: number | undefined]>; isUndone: boolean }[] = []

  constructor(
    private readonly points: readonly { readonly ms: number; readonly missed: boolean; readonly arrivesMs: number }[],
    private nowMs: number,
  ) {}

  advance(ms: number): void {
    this.nowMs += ms
  }

  /** Live knows what was not missed, and tells of a session when it is closed. */
  live(): SessionSpan[] {
    const known = this.points.filter(({ ms, missed }) => !missed && ms <= this.nowMs).map(({ ms }) => ms)
    return sessionsOf(known).filter((session) => isClosed(session, { finalMs: this.nowMs, sessionGapMs: GAP }))
  }

  served(): SessionSpan[] {
    const from = (source: readonly SessionSpan[], version: number | undefined) =>
      source.filter(({ startMs }) => this.pointers.get(hourOf(startMs)) === version)
    return [...from(this.live(), undefined), ...this.versions.flatMap(({ sessions }, index) => from(sessions, index))]
  }

  run(asked: { fromMs: number; toMs: number }): void {
    if (asked.toMs > this.nowMs) return
    const fresh = sessionsOf(this.points.filter(({ ms, arrivesMs }) => ms <= this.nowMs && arrivesMs <= this.nowMs).map(({ ms }) => ms))
    const { needed } = sessionHours(asked, this.served(), fresh, { finalMs: this.nowMs, sessionGapMs: GAP })
    const sessions = fresh.filter(({ startMs }) => startMs >= needed.fromMs && startMs < needed.toMs)
    this.versions.push({ sessions, finalMs: this.nowMs, needed, asked })
  }

  publish(number: number): 'done' | 'refused' {
    const version = this.versions[number]
    if (version === undefined) return 'refused'
    const { range, needed } = sessionHours(version.asked, this.served(), version.sessions, { finalMs: version.finalMs, sessionGapMs: GAP })
    if (needed.fromMs < version.needed.fromMs || needed.toMs > version.needed.toMs) return 'refused'
    const moves = new Map<number, [number | undefined, number | undefined]>()
    for (let hour = range?.fromMs ?? 0; hour < (range?.toMs ?? 0); hour += HOUR) moves.set(hour, [this.pointers.get(hour), number])
    for (const hour of moves.keys()) this.pointers.set(hour, number)
    this.publications.push({ moves, isUndone: false })
    return 'done'
  }

  /** Only when nothing was published over it. */
  rollBack(number: number): 'done' | 'refused' {
    const publication = this.publications[number]
    if (publication === undefined || publication.isUndone) return 'refused'
    for (const [hour, [, after]] of publication.moves) if (this.pointers.get(hour) !== after) return 'refused'
    for (const [hour, [before]] of publication.moves) {
      if (before === undefined) this.pointers.delete(hour)
      else this.pointers.set(hour, before)
    }
    publication.isUndone = true
    return 'done'
  }
}

const points = fc.array(
  fc.record({
    stepMs: fc.oneof(
      { weight: 12, arbitrary: fc.integer({ min: 1, max: 3 * MINUTE }) },
      { weight: 1, arbitrary: fc.integer({ min: 3 * MINUTE, max: 30 * MINUTE }) },
    ),
    missed: fc.boolean(),
    delayMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 6 * HOUR })),
  }),
  { minLength: 60, maxLength: 300, size: 'max' },
)
const step = fc.oneof(
  fc.record({ kind: fc.constant('run' as const), from: fc.nat(11), hours: fc.integer({ min: 1, max: 5 }), publish: fc.boolean() }),
  fc.record({ kind: fc.constant('publish' as const), number: fc.nat(8) }),
  fc.record({ kind: fc.constant('back' as const), number: fc.nat(8) }),
  fc.record({ kind: fc.constant('later' as const), ms: fc.integer({ min: 1, max: 90 * MINUTE }) }),
)

describe('any sequence of publish and roll back over random hours', () => {
  it('leaves no session missing or twice', () => {
    let done = 0
    let crossed = 0
    fc.assert(
      fc.property(
        points,
        fc.array(step, { minLength: 4, maxLength: 24, size: 'max' }),
        fc.integer({ min: 2, max: 8 }),
        (steps, actions, hours) => {
          let ms = T0
          const all = steps.map(({ stepMs, missed, delayMs }) => {
            ms += stepMs
            // What arrives in time is never missed.
            return { ms, missed: missed && delayMs > 0, arrivesMs: ms + (missed ? delayMs : 0) }
          })
          const store = new Store(all, T0 + hours * HOUR)
          for (const action of actions) {
            if (action.kind === 'later') store.advance(action.ms)
            if (action.kind === 'publish' && store.publish(action.number) === 'done') done += 1
            if (action.kind === 'back' && store.rollBack(action.number) === 'done') done += 1
            if (action.kind === 'run') {
              const fromMs = T0 + action.from * HOUR
              store.run({ fromMs, toMs: fromMs + action.hours * HOUR })
              if (action.publish && store.publish(store.versions.length - 1) === 'done') done += 1
            }
            const served = store.served().sort((a, b) => a.startMs - b.startMs)
            for (const [index, session] of served.entries()) {
              const next = served[index + 1]
              expect(next === undefined || next.startMs > session.endMs, 'a session twice').toBe(true)
            }
            for (const session of store.live()) {
              const holders = served.filter(({ startMs, endMs }) => startMs <= session.startMs && endMs >= session.endMs)
              expect(holders.length, 'a session that is missing').toBe(1)
            }
            crossed += store.versions.filter(({ needed, asked }) => needed.fromMs < asked.fromMs || needed.toMs > asked.toMs).length
          }
        },
      ),
      { numRuns: 200, interruptAfterTimeLimit: 30_000 },
    )
    expect(done).toBeGreaterThan(20)
    expect(crossed).toBeGreaterThan(5)
  })
})
