import { type HeartbeatValue, type SettingsValue, TOPICS } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'
import type { BridgeCounters } from './counters.ts'
import type { HoldReason } from './heartbeat-rule.ts'
import type { IntakeQueue, QueueItem } from './intake-queue.ts'
import { HEARTBEAT_EVERY_MS } from './play-clock.ts'
import type { PartitionInForce, WatermarkSettings } from './settings-in-force.ts'

/** When a control record is written. */
interface ControlTime {
  readonly ms: number
  /** It is the player's clock. */
  readonly playing: boolean
}

export interface ControlParts {
  readonly queue: IntakeQueue
  readonly counters: BridgeCounters
  /** Name of this tenure, in every heartbeat: what it tells counts from the start of the tenure. */
  readonly instance: string
  /** MQTT client id, by which bridges that share a fleet are told apart. */
  readonly clientId: string
  readonly watermark: WatermarkSettings
  readonly machineMs: () => number
}

/** Puts heartbeats and settings records into the queue, each to every partition that is this bridge's own, in order with the positions. */
export class ControlWriter {
  readonly #parts: ControlParts
  #inForce = new Map<number, PartitionInForce>()
  /** In force from the next control record on. */
  #watermark: WatermarkSettings
  #lastBeatMs: number | null = null
  readonly #heldMs = new Map<HoldReason, number>()
  #heldAtMs: number | null = null
  /** What the process had counted before: its earlier tenures told that under other names. */
  readonly #before: { readonly received: number; readonly merged: number; readonly clock: number }

  constructor(parts: ControlParts) {
    this.#parts = parts
    this.#watermark = parts.watermark
    const { receivedTotal: received, mergedTotal: merged, clockTotal: clock } = parts.counters
    this.#before = { received, merged, clock }
  }

  /** Clock time of the last heartbeat; null before the first. */
  get lastBeatMs(): number | null {
    return this.#lastBeatMs
  }

  /** A heartbeat is due and is held back at `ms`: the next one tells what held it back for longest. */
  hold(reason: HoldReason, ms: number): void {
    const forMs = this.#heldAtMs === null ? 0 : Math.max(0, ms - this.#heldAtMs)
    this.#heldMs.set(reason, (this.#heldMs.get(reason) ?? 0) + forMs)
    this.#heldAtMs = ms
  }

  /** What the log says, read before the first item is taken from the queue. */
  know(inForce: ReadonlyMap<number, PartitionInForce>): void {
    this.#inForce = new Map(inForce)
  }

  /**
   * A heartbeat at `ms` to every partition. `playing`: on the player's clock. The partitions may not be known yet: they are when its
   * turn comes.
   */
  beat(ms: number, playing: boolean): void {
    const { counters, instance, clientId } = this.#parts
    const watermark = this.#watermark
    const value: HeartbeatValue = {
      tipus: 'batec',
      data_ms: ms,
      pont: instance,
      client: clientId,
      rebuts: counters.receivedTotal - this.#before.received,
      bessons: counters.mergedTotal - this.#before.merged,
      tics: counters.clockTotal - this.#before.clock,
      retard_ms: watermark.delayMs,
      marge_ms: watermark.allowedLatenessMs,
      ...heldWord(this.#heldMs),
      ...(playing ? { rellotge: 'reproduccio' } : {}),
    }
    this.#lastBeatMs = ms
    this.#heldMs.clear()
    this.#heldAtMs = null
    counters.heartbeats.inc()
    const text = JSON.stringify(value)
    this.#push(() => [...this.#inForce.keys()].map((partition) => control(partition, text, ms)))
  }

  /** Delay that control records tell, ms. */
  get delayMs(): number {
    return this.#watermark.delayMs
  }

  /** The delay that the log has already: no record is needed for it. */
  goOnWith(delayMs: number): void {
    this.#watermark = { ...this.#watermark, delayMs }
  }

  /** Another delay from now on: heartbeats tell it, and the settings that put it in force come after what is queued. */
  setDelay(delayMs: number, clock: () => ControlTime): void {
    this.goOnWith(delayMs)
    this.settings(clock)
  }

  /** The settings to each partition where others are in force; what they are and `clock` are asked when the item's turn comes. */
  settings(clock: () => ControlTime): void {
    this.#push(() => {
      const { delayMs, allowedLatenessMs } = this.#watermark
      const { ms, playing } = clock()
      const value: SettingsValue = {
        tipus: 'parametres',
        data_ms: ms,
        retard_ms: delayMs,
        marge_ms: allowedLatenessMs,
        ...(playing ? { rellotge: 'reproduccio' } : {}),
      }
      const differ = [...this.#inForce].filter(
        ([, { settings }]) => settings?.delayMs !== delayMs || settings.allowedLatenessMs !== allowedLatenessMs,
      )
      for (const [partition, known] of differ) this.#inForce.set(partition, { ...known, settings: { delayMs, allowedLatenessMs } })
      return differ.map(([partition]) => control(partition, JSON.stringify(value), ms))
    })
  }

  #push(produce: () => readonly OutRecord[]): void {
    const item: QueueItem = {
      key: null,
      records: [],
      produce,
      topic: TOPICS.positions.name,
      payload: Buffer.alloc(0),
      bytes: 0,
      receivedAtMs: this.#parts.machineMs(),
      acknowledgers: [],
    }
    this.#parts.queue.push(item)
  }
}

const HELD_WORDS = { 'not-connected': 'sense-connexio', 'waiting-for-kafka': 'espera-kafka', backlog: 'endarreriment' } as const
/** A connection that has just been made is the end of another reason, or the bridge's start. */
const TOLD = ['not-connected', 'waiting-for-kafka', 'backlog'] as const

/** The reason that held heartbeats back for longest, if that was long enough to keep one from the log. */
function heldWord(heldMs: ReadonlyMap<HoldReason, number>): Pick<HeartbeatValue, 'retingut'> {
  let longest: (typeof TOLD)[number] | null = null
  for (const reason of TOLD)
    if ((heldMs.get(reason) ?? 0) > (longest === null ? HEARTBEAT_EVERY_MS : (heldMs.get(longest) ?? 0))) longest = reason
  return longest === null ? {} : { retingut: HELD_WORDS[longest] }
}

function control(partition: number, value: string, timestampMs: number): OutRecord {
  return { topic: TOPICS.positions.name, key: null, value, timestampMs, partition }
}
