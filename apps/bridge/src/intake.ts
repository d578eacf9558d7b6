import { MQTT_TOPICS, TOPICS, TRACE_HEADER } from '@km0/contracts'
import { newTraceparent, type Tracer } from '@km0/runtime'
import type { OutRecord } from '@km0/transport'
import type { MqttDelivery } from '@km0/transport/mqtt-input'
import type { BridgeCounters } from './counters.ts'
import { deadLetter, type Refusal } from './dead-letter.ts'
import { type DecodeLimits, decode } from './decoders/table.ts'
import type { Acknowledger, IntakeQueue } from './intake-queue.ts'
import { deliveryKey } from './merge-memory.ts'
import type { PlayClock } from './play-clock.ts'

export interface IntakeParts {
  readonly queue: IntakeQueue
  readonly counters: BridgeCounters
  readonly limits: DecodeLimits
  /** Partition of a van where this bridge has partitions of its own; absent: the producer chooses among all. */
  readonly choose?: ((van: string) => number) | undefined
  /** Arrival time that the next record gets; null while the player has not said it. */
  readonly nowMs: () => number | null
  readonly machineMs: () => number
  /** In play mode only. */
  readonly play: PlayClock | null
  /** Writes a heartbeat of the player's clock. */
  readonly beat: (ms: number) => void
  /** The player's clock has moved. */
  readonly onClock: () => void
  readonly onAccepted: (van: string, eventMs: number | null, arrivalMs: number) => void
  /** A probe came; it counts as no message. */
  readonly onProbe: (payload: Buffer) => void
  readonly onRefused: (topic: string, refusal: Refusal) => void
  /** Null while nothing is traced: then no record has a trace. */
  readonly tracer?: Tracer | null
}

const TRACE_MEMBER = /"traceparent"\s*:\s*"(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"/

/** Room that an item takes besides its bytes. */
const ITEM_OVERHEAD_BYTES = 200

/** Takes deliveries in order: finds twins, decodes, stamps, queues. */
export class Intake {
  readonly #parts: IntakeParts
  #lastMessageMs: number | null = null
  #received = { messages: 0, bytes: 0 }

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Machine's time of the last delivery; null before the first. */
  get lastMessageMs(): number | null {
    return this.#lastMessageMs
  }

  /** Deliveries and their bytes (topic and payload) since the start. */
  get received(): { readonly messages: number; readonly bytes: number } {
    return this.#received
  }

  /** Takes one delivery; `hold` when the queue has no room for another. */
  take(delivery: MqttDelivery): 'more' | 'hold' {
    const { queue, counters, machineMs, play } = this.#parts
    if (delivery.topic === MQTT_TOPICS.probe) return this.#probe(delivery)
    this.#lastMessageMs = machineMs()
    counters.countReceived()
    this.#received = {
      messages: this.#received.messages + 1,
      bytes: this.#received.bytes + Buffer.byteLength(delivery.topic) + delivery.payload.length,
    }
    const key = deliveryKey(delivery.topic, delivery.payload, delivery.retain)
    const acknowledger: Acknowledger = {
      connection: delivery.connection,
      acknowledge: () => {
        const sent = delivery.acknowledge()
        if (sent) counters.acknowledged.inc()
        return sent
      },
    }
    if (queue.offer(key, acknowledger) !== 'new') counters.countMerged()
    else if (play !== null && delivery.topic === MQTT_TOPICS.clock && !delivery.retain) this.#tick(play, key, delivery, acknowledger)
    else this.#message(key, delivery, acknowledger)
    return queue.full ? 'hold' : 'more'
  }

  #message(key: string, { topic, payload, retain }: MqttDelivery, acknowledger: Acknowledger): void {
    const { limits, choose, nowMs, onAccepted } = this.#parts
    const arrivalMs = nowMs()
    const decoded = decode(topic, payload, retain, limits)
    if (decoded.kind === 'refused') {
      this.#refuse(key, topic, payload, decoded, acknowledger)
      return
    }
    const record = {
      topic: TOPICS.positions.name,
      key: decoded.van,
      value: decoded.value,
      ...(arrivalMs === null ? {} : { timestampMs: arrivalMs }),
      ...(choose === undefined ? {} : { partition: choose(decoded.van) }),
    }
    const traced = this.#parts.tracer == null ? null : this.#trace(this.#parts.tracer, payload, acknowledger)
    if (traced === null) this.#push(key, topic, payload, [record], acknowledger)
    else this.#push(key, topic, payload, [{ ...record, headers: { [TRACE_HEADER]: traced.parent } }], traced.acknowledger)
    if (arrivalMs !== null) onAccepted(decoded.van, decoded.eventMs, arrivalMs)
  }

  /**
   * The trace of a message that asks for one or is sampled; null for all others. The span of the bridge is over when Kafka has the record,
   * which is when the message is acknowledged.
   */
  #trace(tracer: Tracer, payload: Buffer, acknowledger: Acknowledger): { parent: string; acknowledger: Acknowledger } | null {
    const asked = TRACE_MEMBER.exec(payload.includes(TRACE_HEADER) ? payload.toString('utf8') : '')?.[1]
    if (asked === undefined && !tracer.samples()) return null
    const parent = asked ?? newTraceparent()
    const startMs = this.#parts.machineMs()
    const acknowledge = () => {
      tracer.note({ name: 'bridge: MQTT to Kafka', startMs, endMs: this.#parts.machineMs(), parent })
      return acknowledger.acknowledge()
    }
    return { parent, acknowledger: { ...acknowledger, acknowledge } }
  }

  /** Acknowledged behind everything that came before it. */
  #probe({ topic, payload, retain, connection, acknowledge }: MqttDelivery): 'more' | 'hold' {
    const { queue, onProbe } = this.#parts
    if (!retain) onProbe(payload)
    const key = deliveryKey(topic, payload, retain)
    const acknowledger: Acknowledger = { connection, acknowledge }
    if (queue.offer(key, acknowledger) === 'new') this.#push(key, topic, Buffer.alloc(0), [], acknowledger)
    return queue.full ? 'hold' : 'more'
  }

  /** Heartbeats for what the clock has passed come before everything later; the tick itself is acknowledged behind them. */
  #tick(play: PlayClock, key: string, { topic, payload }: MqttDelivery, acknowledger: Acknowledger): void {
    const tick = play.tick(payload)
    if (tick.kind === 'refused') {
      this.#refuse(key, topic, payload, { reason: 'camps', detail: tick.detail }, acknowledger)
      return
    }
    // Before its heartbeats: they tell of it.
    this.#parts.counters.clockTotal += 1
    for (const ms of tick.heartbeatsMs) this.#parts.beat(ms)
    this.#push(key, topic, payload, [], acknowledger)
    this.#parts.onClock()
  }

  #refuse(key: string, topic: string, payload: Buffer, refusal: Refusal, acknowledger: Acknowledger): void {
    const { counters, nowMs, onRefused } = this.#parts
    counters.countRefused(refusal.reason)
    onRefused(topic, refusal)
    this.#push(key, topic, Buffer.alloc(0), [deadLetter(topic, payload, refusal, nowMs())], acknowledger)
  }

  #push(key: string, topic: string, payload: Buffer, records: readonly OutRecord[], acknowledger: Acknowledger): void {
    const bytes = records.reduce((sum, record) => sum + sizeOf(record), ITEM_OVERHEAD_BYTES)
    const receivedAtMs = this.#parts.machineMs()
    this.#parts.queue.push({ key, records, topic, payload, bytes, receivedAtMs, acknowledgers: [acknowledger] })
  }
}

function sizeOf({ key, value }: OutRecord): number {
  return Buffer.byteLength(value ?? '') + Buffer.byteLength(key ?? '')
}
