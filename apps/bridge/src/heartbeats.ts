import { type HeartbeatValue, type SettingsValue, TOPICS } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'
import type { BridgeCounters } from './counters.ts'
import type { IntakeQueue, QueueItem } from './intake-queue.ts'
import type { PartitionInForce, WatermarkSettings } from './settings-in-force.ts'

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
  #inForce: ReadonlyMap<number, PartitionInForce> = new Map()
  #lastBeatMs: number | null = null
  /** What the process had counted before: its earlier tenures told that under other names. */
  readonly #before: { readonly received: number; readonly merged: number; readonly clock: number }

  constructor(parts: ControlParts) {
    this.#parts = parts
    const { receivedTotal: received, mergedTotal: merged, clockTotal: clock } = parts.counters
    this.#before = { received, merged, clock }
  }

  /** Clock time of the last heartbeat; null before the first. */
  get lastBeatMs(): number | null {
    return this.#lastBeatMs
  }

  /** What the log says, read before the first item is taken from the queue. */
  know(inForce: ReadonlyMap<number, PartitionInForce>): void {
    this.#inForce = inForce
  }

  /**
   * A heartbeat at `ms` to every partition. `playing`: on the player's clock. The partitions may not be known yet: they are when its
   * turn comes.
   */
  beat(ms: number, playing: boolean): void {
    const { counters, instance, clientId, watermark } = this.#parts
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
      ...(playing ? { rellotge: 'reproduccio' } : {}),
    }
    this.#lastBeatMs = ms
    counters.heartbeats.inc()
    const text = JSON.stringify(value)
    this.#push(() => [...this.#inForce.keys()].map((partition) => control(partition, text, ms)))
  }

  /** The settings to each partition where others are in force; `clock` tells the time when the item's turn comes. */
  settings(clock: () => { readonly ms: number; readonly playing: boolean }): void {
    const { delayMs, allowedLatenessMs } = this.#parts.watermark
    this.#push(() => {
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

function control(partition: number, value: string, timestampMs: number): OutRecord {
  return { topic: TOPICS.positions.name, key: null, value, timestampMs, partition }
}
