import type { LedgerBridge } from '@km0/contracts'

/** An instance that died may have written for so long after its last heartbeat. */
const TAIL_MS = 60_000

/** What a heartbeat tells of its bridge; cumulative since the start of the instance. */
export interface BridgeBeat {
  readonly instance: string
  /** Time of the heartbeat: the same in every partition. */
  readonly ms: number
  readonly received: number
  readonly merged: number
  readonly clock: number
}

/** One heartbeat, over the partitions in which it was seen. */
interface Beat extends BridgeBeat {
  /** Partitions in which it was seen. */
  seen: number
  /** Messages of the span that stand before it, over those partitions. */
  before: number
  /** Of these, those behind the heartbeat before, whoever wrote that; and in how many partitions there was one. */
  gap: number
  gapSeen: number
  /** Of the heartbeats before, the earliest. */
  gapFromMs: number
}

interface Instance {
  readonly name: string
  readonly partitions: Set<number>
  readonly beats: Map<number, Beat>
  /** It had told something before the span: its first heartbeat in the span is not its first. */
  known: boolean
}

interface PartitionState {
  messages: number
  last: { readonly ms: number; readonly messages: number } | null
  /** By name of instance: how often it has begun to count anew, and what it told last. */
  readonly told: Map<string, { readonly generation: number; readonly received: number }>
}

export interface BridgeCounts {
  readonly bridges: readonly LedgerBridge[]
  /** Between heartbeats of one instance. */
  readonly received: number
  readonly merged: number
  readonly clock: number
  /** Messages in the log between the same heartbeats, and dead letters of a bridge there. */
  readonly logged: number
  readonly refused: number
  /** All messages and dead letters of the span, covered by heartbeats or not. */
  readonly messages: number
  readonly letters: number
}

/**
 * Reads heartbeats back. A bridge puts them into its queue in order with the messages, so between two heartbeats of one instance there stand
 * exactly the messages that it has received between them, without merged ones, those of the clock, and refused ones, which are in another
 * topic. What stands behind the last heartbeat of an instance that died is in the log, and received at least once.
 */
export class BridgeTally {
  readonly #partitions = new Map<number, PartitionState>()
  readonly #instances = new Map<string, Instance>()
  /** Dead letters of bridges by arrival time. */
  readonly #letters = new Map<number, number>()

  /** A message of the span, in the order of its partition. */
  message(partition: number): void {
    this.#stateOf(partition).messages += 1
  }

  /** A dead letter that a bridge wrote in the span. */
  letter(arrivalMs: number): void {
    this.#letters.set(arrivalMs, (this.#letters.get(arrivalMs) ?? 0) + 1)
  }

  /** A heartbeat, in the order of its partition. Those before the span say only which instances are not new. */
  beat(partition: number, told: BridgeBeat, inSpan: boolean): void {
    const state = this.#stateOf(partition)
    const instance = this.#instanceOf(state, told)
    if (!inSpan) {
      instance.known = true
      return
    }
    const beat = instance.beats.get(told.ms) ?? { ...told, seen: 0, before: 0, gap: 0, gapSeen: 0, gapFromMs: Number.POSITIVE_INFINITY }
    instance.beats.set(told.ms, beat)
    instance.partitions.add(partition)
    beat.seen += 1
    beat.before += state.messages
    if (state.last !== null) {
      beat.gap += state.messages - state.last.messages
      beat.gapSeen += 1
      beat.gapFromMs = Math.min(beat.gapFromMs, state.last.ms)
    }
    state.last = { ms: told.ms, messages: state.messages }
  }

  #stateOf(partition: number): PartitionState {
    const state = this.#partitions.get(partition) ?? { messages: 0, last: null, told: new Map() }
    this.#partitions.set(partition, state)
    return state
  }

  /** An instance that counts from 0 again under its old name is another one. Told by each partition for itself: they interleave in any way. */
  #instanceOf(state: PartitionState, { instance: name, received }: BridgeBeat): Instance {
    const before = state.told.get(name)
    const generation = before === undefined ? 0 : before.generation + Number(received < before.received)
    state.told.set(name, { generation, received })
    const key = `${generation} ${name}`
    const instance = this.#instances.get(key) ?? { name, partitions: new Set(), beats: new Map(), known: false }
    this.#instances.set(key, instance)
    return instance
  }

  /** null when no heartbeat of the span tells anything. */
  counts(): BridgeCounts | null {
    const covers = [...this.#instances.values()].flatMap((instance) => coverOf(instance) ?? [])
    if (covers.length === 0) return null
    const sum = (of: (cover: Cover) => number) => covers.reduce((total, cover) => total + of(cover), 0)
    const [received, merged, clock, logged] = [
      sum((cover) => cover.received),
      sum((cover) => cover.merged),
      sum((cover) => cover.clock),
      sum((cover) => cover.logged),
    ]
    const { sure, possible, all } = this.#lettersWithin(covers)
    return {
      bridges: covers.map(({ instance, fromMs, toMs, received, merged, clock }) => ({ instance, fromMs, toMs, received, merged, clock })),
      received,
      merged,
      clock,
      logged,
      // A dead letter has the time of its arrival, but no place between heartbeats of the same millisecond.
      refused: Math.min(possible, Math.max(sure, received - merged - clock - logged)),
      messages: [...this.#partitions.values()].reduce((total, { messages }) => total + messages, 0),
      letters: all,
    }
  }

  #lettersWithin(covers: readonly Cover[]): { sure: number; possible: number; all: number } {
    const found = { sure: 0, possible: 0, all: 0 }
    for (const [ms, count] of this.#letters) {
      found.all += count
      const near = covers.filter(({ gapFromMs, toMs }) => ms >= gapFromMs && ms <= toMs + TAIL_MS)
      if (near.some(({ toMs }) => ms <= toMs)) found.possible += count
      // Near the end of what an instance has told, a letter may be one that it has not told any more.
      if (near.length > 0 && near.every(({ fromMs, toMs }) => ms > fromMs && ms < toMs)) found.sure += count
    }
    return found
  }
}

interface Cover extends LedgerBridge {
  readonly logged: number
  /** The heartbeat before the first one, whoever wrote it. */
  readonly gapFromMs: number
}

/** From the first to the last heartbeat that stands in all partitions of the instance. null when there is none. */
function coverOf({ name, partitions, beats, known }: Instance): Cover | null {
  const whole = [...beats.values()].filter(({ seen }) => seen === partitions.size).sort((a, b) => a.ms - b.ms)
  const [first] = whole
  const last = whole.at(-1)
  if (first === undefined || last === undefined) return null
  // An instance that began in the span has counted from 0 at some place behind the heartbeat before its first one.
  const began = !known && first.gapSeen === partitions.size && first.ms === Math.min(...beats.keys())
  const own = began ? Math.max(0, Math.min(first.gap, first.received - first.merged - first.clock)) : 0
  const base = began ? { received: 0, merged: 0, clock: 0 } : first
  return {
    instance: name,
    fromMs: first.ms,
    toMs: last.ms,
    received: last.received - base.received,
    merged: last.merged - base.merged,
    clock: last.clock - base.clock,
    logged: last.before - first.before + own,
    gapFromMs: began ? first.gapFromMs : first.ms,
  }
}
