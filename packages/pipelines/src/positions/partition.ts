import { RECORD_FLAGS, type WindowObserver } from '@km0/contracts'
import {
  compareDue,
  type Due,
  type PartitionClock,
  paneStartMs,
  type Session,
  TimerQueue,
  windowsEndedBy,
  windowsPerPoint,
} from '@km0/windowing'
import type { Outbox } from '../outbox.ts'
import { emitLate } from '../refusals.ts'
import type { PositionsOperators } from './operators.ts'
import { distanceKey, distanceValue, liveValue, sessionKey, sessionValue, signalKey, signalValue } from './rows.ts'
import { forget, forgetMove, isGone, newRevisionLedger, newVan, nextDueMs, RANK, type Van } from './van.ts'

interface VanDue extends Due {
  readonly van: Van
  /** Of rank `session`. */
  readonly session?: Session
}

/** The positions pipeline for one partition: the rules of section 3 in their order, and the order of emission of section 7. */
export class PositionsPartition {
  readonly clock: PartitionClock
  readonly vans = new Map<string, Van>()
  private readonly timers = new TimerQueue<Van>()
  private readonly operators: PositionsOperators
  private readonly out: Outbox
  private readonly observer: WindowObserver | null
  private readonly windowCount: number

  constructor(operators: PositionsOperators, clock: PartitionClock, out: Outbox, observer: WindowObserver | null) {
    this.operators = operators
    this.clock = clock
    this.out = out
    this.observer = observer
    this.windowCount = windowsPerPoint(operators.shape)
  }

  /** Applies a position that is valid and on the clock. Returns RECORD_FLAGS without those of the clock. */
  onPosition(name: string, lat: number, lon: number, eventMs: number, arrivalMs: number): number {
    const { shape, distance } = this.operators
    let van = this.vans.get(name)
    const finalCount = windowsEndedBy(shape, paneStartMs(shape, eventMs), this.finalMsOf(van))
    if (finalCount === this.windowCount) {
      emitLate(this.out, name, 'tard', eventMs, finalCount)
      this.showLateLive(van, name, lat, lon, eventMs, arrivalMs)
      return RECORD_FLAGS.late
    }
    van ??= this.addVan(name)
    const paneCount = van.distance.length
    if (!distance.add(van.distance, eventMs, lat, lon)) return RECORD_FLAGS.duplicate
    if (van.distance.length > paneCount) this.paneOpened(van, eventMs)
    return this.accepted(van, lat, lon, eventMs, arrivalMs, finalCount)
  }

  private accepted(van: Van, lat: number, lon: number, eventMs: number, arrivalMs: number, finalCount: number): number {
    const { signal } = this.operators
    const watermarkMs = this.watermarkMsOf(van)
    const hadSession = van.signal.open.length > 0
    const missed = signal.missedBySession(van.signal, eventMs)
    const effect = signal.add(van.signal, eventMs, watermarkMs)
    const partly = finalCount > 0 || missed || effect === 'left-out'
    if (partly) emitLate(this.out, van.name, 'parcial', eventMs, finalCount)
    if (this.finalMsOf(van) < watermarkMs) this.revise(van, eventMs)
    if (effect === 'opened') {
      if (!hadSession) this.out.emit('panell', signalKey(van), signalValue(van, 'amb-senyal', eventMs))
      this.observer?.opened('sessio', van.name, eventMs, null)
      this.wakeAt(van, signal.nextDueMs(van.signal))
    }
    this.showLive(van, lat, lon, eventMs, arrivalMs)
    return partly ? RECORD_FLAGS.accepted | RECORD_FLAGS.partlyLate : RECORD_FLAGS.accepted
  }

  private watermarkMsOf(van: Van): number {
    return van.moved === null ? this.clock.watermarkMs : Math.max(this.clock.watermarkMs, van.moved.watermarkMs)
  }

  private finalMsOf(van: Van | undefined): number {
    return van === undefined || van.moved === null ? this.clock.finalMs : Math.max(this.clock.finalMs, van.moved.finalMs)
  }

  private addVan(name: string): Van {
    const van = newVan(name)
    this.vans.set(name, van)
    return van
  }

  private paneOpened(van: Van, eventMs: number): void {
    const { shape } = this.operators
    const startMs = paneStartMs(shape, eventMs)
    const due = nextDueMs(this.operators, van, this.watermarkMsOf(van))
    this.wakeAt(van, due < Number.POSITIVE_INFINITY ? due : this.forgetAtMs(van))
    if (this.observer === null) return
    for (let endMs = startMs + shape.slideMs; endMs <= startMs + shape.sizeMs; endMs += shape.slideMs) {
      const held = van.distance.some((pane) => pane.startMs !== startMs && pane.startMs < endMs && pane.startMs >= endMs - shape.sizeMs)
      if (!held && endMs > this.clock.finalMs) this.observer.opened('distancia', van.name, endMs - shape.sizeMs, endMs)
    }
  }

  /** Emits again the closed windows that the point changed and that are not final (section 9). */
  private revise(van: Van, eventMs: number): void {
    const { shape, distance } = this.operators
    const watermarkMs = this.watermarkMsOf(van)
    const fromMs = Math.max(this.finalMsOf(van), paneStartMs(shape, eventMs))
    if (fromMs >= watermarkMs) return
    for (const endMs of distance.ends(van.distance, fromMs, watermarkMs)) this.emitDistance(van, endMs)
  }

  private emitDistance(van: Van, endMs: number): void {
    const row = this.operators.distance.row(van.distance, endMs)
    let revision = 0
    if (endMs > this.clock.finalMs) {
      van.revisions ??= newRevisionLedger()
      revision = van.revisions.emit(endMs, row)
      if (revision < 0) return
    }
    this.out.emit('panell', distanceKey(van, endMs), distanceValue(van, endMs - this.operators.shape.sizeMs, endMs, row, revision))
  }

  private showLive(van: Van, lat: number, lon: number, eventMs: number, arrivalMs: number): void {
    const { live } = this.operators
    if (live === null || eventMs < live.oldestMs(this.clock.finalMs)) return
    const row = live.add(van.live, eventMs, lat, lon)
    if (row !== null) this.out.emitNewest('viu', van.name, () => liveValue(van, lat, lon, eventMs, arrivalMs, row))
  }

  /** A point that is late for every window may still be the newest of its van. */
  private showLateLive(known: Van | undefined, name: string, lat: number, lon: number, eventMs: number, arrivalMs: number): void {
    const { live } = this.operators
    if (live === null || eventMs < live.oldestMs(this.clock.finalMs)) return
    const van = known ?? this.addVan(name)
    this.showLive(van, lat, lon, eventMs, arrivalMs)
    if (van.timerMs === Number.POSITIVE_INFINITY) this.wakeAt(van, this.forgetAtMs(van))
  }

  /** W has moved from `beforeMs` to where the clock stands: emits what it closes, in order, and forgets what is spent. */
  closeUpTo(beforeMs: number): void {
    const { watermarkMs } = this.clock
    if (!this.timers.isDue(watermarkMs)) return
    const woken: Van[] = []
    const due: VanDue[] = []
    while (this.timers.isDue(watermarkMs)) {
      const atMs = this.timers.nextMs
      const van = this.timers.pop()
      if (atMs !== van.timerMs) continue
      van.timerMs = Number.POSITIVE_INFINITY
      woken.push(van)
      this.collectDue(van, beforeMs, due)
    }
    due.sort(compareDue)
    for (const item of due) this.emitDue(item)
    for (const van of woken) this.settle(van)
  }

  private collectDue(van: Van, beforeMs: number, due: VanDue[]): void {
    const { distance, signal } = this.operators
    const { watermarkMs } = this.clock
    for (const endMs of distance.ends(van.distance, Math.max(beforeMs, van.moved?.watermarkMs ?? beforeMs), watermarkMs)) {
      due.push({ atMs: endMs, owner: van.name, rank: RANK.distance, van })
    }
    if (van.signal.open.length === 0) return
    const closed = signal.close(van.signal, watermarkMs)
    for (const session of closed) due.push({ atMs: signal.dueMs(session), owner: van.name, rank: RANK.session, van, session })
    const last = closed.at(-1)
    if (last === undefined || van.signal.open.length > 0) return
    due.push({ atMs: signal.dueMs(last), owner: van.name, rank: RANK.signal, van, session: last })
  }

  private emitDue({ atMs, rank, van, session }: VanDue): void {
    if (session === undefined) this.emitDistance(van, atMs)
    else if (rank === RANK.session) this.out.emit('panell', sessionKey(van, session.startMs), sessionValue(van, session))
    else this.out.emit('panell', signalKey(van), signalValue(van, 'sense-senyal', session.lastMs))
  }

  /** After a van was woken: forgets, and sets the next timer, or lets the van go. */
  private settle(van: Van): void {
    forget(this.operators, van, this.clock.finalMs)
    forgetMove(van, this.clock)
    if (isGone(van)) {
      this.vans.delete(van.name)
      return
    }
    const due = nextDueMs(this.operators, van, this.watermarkMsOf(van))
    this.wakeAt(van, due < Number.POSITIVE_INFINITY ? due : this.forgetAtMs(van))
    // It may stay for days: without room to grow.
    if (van.distance.length === 0) van.live = van.live.slice()
  }

  /** When to look again at a van that has nothing due: when it may be gone, but never at or before W. */
  private forgetAtMs(van: Van): number {
    const { watermarkMs, finalMs } = this.clock
    const soonMs = watermarkMs + this.operators.shape.sizeMs
    if (van.distance.length > 0 || van.live.length === 0 || this.operators.live === null || !Number.isFinite(finalMs)) return soonMs
    return Math.max(soonMs, this.operators.live.goneAtMs(van.live) + watermarkMs - finalMs)
  }

  private wakeAt(van: Van, atMs: number): void {
    if (!(atMs < van.timerMs)) return
    van.timerMs = atMs
    this.timers.schedule(atMs, van)
  }

  /** W at which `closeUpTo` has something to look at; Infinity when there is nothing. */
  get nextDueMs(): number {
    return this.timers.nextMs
  }

  /** Takes over a van of a snapshot. */
  restoreVan(van: Van): void {
    this.vans.set(van.name, van)
    const due = nextDueMs(this.operators, van, this.watermarkMsOf(van))
    this.wakeAt(van, due < Number.POSITIVE_INFINITY ? due : this.forgetAtMs(van))
  }
}
