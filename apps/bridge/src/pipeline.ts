import { DEFAULT_POSITIONS_SETTINGS, isEventMs, offTheClock, TOPICS } from '@km0/contracts'
import type { Logger, Tracer } from '@km0/runtime'
import { partitionChooser } from '@km0/transport/log-partitioner'
import type { MqttDelivery } from '@km0/transport/mqtt-input'
import { AdaptiveDelay } from './adaptive-delay.ts'
import type { BridgeCounters } from './counters.ts'
import { Forwarder, type RecordSender } from './forwarder.ts'
import { type HeartbeatRuleSettings, type HoldReason, holdReason } from './heartbeat-rule.ts'
import { ControlWriter } from './heartbeats.ts'
import { Intake } from './intake.ts'
import { IntakeQueue } from './intake-queue.ts'
import { LatenessTracker } from './lateness.ts'
import { HEARTBEAT_EVERY_MS, PlayClock } from './play-clock.ts'
import type { BridgeSettings } from './settings.ts'
import type { PartitionInForce } from './settings-in-force.ts'
import { ownPartitions } from './share.ts'

/** A message that waits longer than this for Kafka holds heartbeats back. */
const WAITING_MS = 2_000
const MAX_BATCH_BYTES = 850_000
const { maxFutureMs: MAX_FUTURE_MS, maxAgeMs: MAX_AGE_MS } = DEFAULT_POSITIONS_SETTINGS

export interface PipelineParts {
  readonly settings: BridgeSettings
  /** Name of this instance in heartbeats. */
  readonly instance: string
  readonly counters: BridgeCounters
  readonly logger: Logger
  readonly openSender: () => Promise<RecordSender>
  /** Asked before each attempt to write. */
  readonly mayWrite: () => boolean
  readonly machineMs: () => number
  /** The queue has room again. */
  readonly onRoom: () => void
  /** A probe came back. */
  readonly onProbe: (payload: Buffer) => void
  readonly tracer?: Tracer | null
  /** A broken invariant: the program must end. */
  readonly onFatal: (error: unknown) => void
}

/**
 * What happens to messages between MQTT and Kafka, whoever brings them.
 *
 *   take ─▶ Intake (twins, decoding, arrival time) ─▶ IntakeQueue ─▶ Forwarder ─▶ Kafka, and only then the acknowledgements
 *                                 heartbeats, settings ──┘
 *
 * Messages are taken from the start. Nothing is written before the log has been read (`know`) and the clock is known; the settings
 * record was queued first and is so the first in every partition.
 */
export class Pipeline {
  readonly #parts: PipelineParts
  readonly #queue: IntakeQueue
  readonly #lateness = new LatenessTracker()
  readonly #rule: HeartbeatRuleSettings
  readonly #play: PlayClock | null
  readonly #control: ControlWriter
  readonly #intake: Intake
  readonly #forwarder: Forwarder
  /** Null while the delay is the one that is set. */
  readonly #adaptive: AdaptiveDelay | null
  #connectedSinceMs: number | null = null
  /** Clock time when it was first known. */
  #firstMs: number | null = null
  #firstOnPlayer = false
  #logKnown = false
  /** Partition of a van; null until the log has been read. */
  #partitionOf: ((van: string) => number) | null = null
  #own: readonly number[] = []
  #running: Promise<void> | null = null
  #stopped = false

  constructor(parts: PipelineParts) {
    const { settings, counters, machineMs } = parts
    this.#parts = parts
    this.#queue = new IntakeQueue({
      maxMessages: settings.KM0_BRIDGE_QUEUE_MESSAGES,
      maxBytes: settings.KM0_BRIDGE_QUEUE_BYTES,
      rememberedMessages: settings.KM0_BRIDGE_REMEMBERED_MESSAGES,
    })
    this.#rule = {
      settleMs: settings.KM0_BRIDGE_SETTLE_MS,
      backlogLimitMs: settings.KM0_BRIDGE_BACKLOG_LIMIT_MS,
      delayMs: settings.KM0_POSITIONS_DELAY_MS,
    }
    this.#adaptive = settings.KM0_DELAY_ADAPTIVE === 'off' ? null : new AdaptiveDelay(adaptiveRules(settings))
    this.#play = settings.KM0_CLOCK === 'play' ? new PlayClock(machineMs) : null
    this.#control = new ControlWriter({
      queue: this.#queue,
      counters,
      instance: parts.instance,
      clientId: settings.KM0_BRIDGE_CLIENT_ID,
      watermark: { delayMs: settings.KM0_POSITIONS_DELAY_MS, allowedLatenessMs: settings.KM0_POSITIONS_ALLOWED_LATENESS_MS },
      machineMs,
    })
    this.#intake = new Intake({
      queue: this.#queue,
      counters,
      limits: { maxRecordBytes: TOPICS.positions.maxMessageBytes },
      choose: settings.KM0_BRIDGE_PARTITIONS === undefined ? undefined : partitionChooser(settings.KM0_BRIDGE_PARTITIONS),
      nowMs: () => this.nowMs(),
      machineMs,
      play: this.#play,
      beat: (ms) => this.#control.beat(ms, true),
      onClock: () => this.#onClock(),
      onAccepted: (van, eventMs, arrivalMs) => {
        this.#lateness.observe(van, eventMs, arrivalMs, this.#settled(arrivalMs))
        this.#measure(van, eventMs, arrivalMs)
      },
      onProbe: parts.onProbe,
      tracer: parts.tracer ?? null,
      onRefused: (topic, { reason, detail }) => parts.logger.debug({ topic, reason, detail }, 'message refused'),
    })
    this.#forwarder = this.#makeForwarder()
    this.#control.settings(() => ({ ms: this.#firstMs ?? machineMs(), playing: this.#firstOnPlayer }))
    this.#onClock()
  }

  /** Takes one delivery; `hold` when there is no room for another until `onRoom`. */
  take(delivery: MqttDelivery): 'more' | 'hold' {
    return this.#intake.take(delivery)
  }

  /**
   * What the log says of each partition. From here on, and when the clock is known, the queue is written. Throws when the topic does not
   * have a partition that is set as this bridge's own.
   */
  know(inForce: ReadonlyMap<number, PartitionInForce>): void {
    const own = ownPartitions(inForce, this.#parts.settings.KM0_BRIDGE_PARTITIONS)
    this.#own = [...own.keys()].sort((a, b) => a - b)
    this.#partitionOf = partitionChooser(this.#own)
    this.#control.know(own)
    this.#goOnWithDelay(own)
    const partitions = [...own.values()]
    const newestMs = Math.max(...partitions.map((partition) => partition.newestMs ?? Number.NEGATIVE_INFINITY))
    if (this.#play !== null && Number.isFinite(newestMs)) this.#play.resume(newestMs, !partitions.some((partition) => partition.playing))
    this.#logKnown = true
    this.#onClock()
  }

  setConnected(sinceMs: number | null): void {
    this.#connectedSinceMs = sinceMs
  }

  /** Arrival time of what comes now; null while the player has not said it. */
  nowMs(): number | null {
    return this.#play === null ? this.#parts.machineMs() : this.#play.nowMs()
  }

  /**
   * On the machine's clock: writes a heartbeat when one is due and nothing speaks against it. Returns why it was held back, null when it
   * was written or is not due. Before the player's clock meets the machine's its ticks write them, and nothing is held back.
   */
  beatWhenDue(): HoldReason | null {
    const nowMs = this.nowMs()
    if (!this.#logKnown || nowMs === null || (this.#play !== null && !this.#play.met)) return null
    if (nowMs - (this.#control.lastBeatMs ?? Number.NEGATIVE_INFINITY) < HEARTBEAT_EVERY_MS) return null
    const reason = this.#holdReason(nowMs)
    if (reason === null) this.#control.beat(nowMs, false)
    else this.#control.hold(reason, nowMs)
    return reason
  }

  /** Where the delay adapts: goes over to another one when the hours behind ask for it. Returns it; null: it stays. */
  adaptDelay(): number | null {
    const nowMs = this.nowMs()
    // A day that is played gives the same log at any speed: nothing in it may depend on when somebody looked.
    if (this.#adaptive === null || nowMs === null || (this.#play !== null && !this.#play.met)) return null
    if (!this.#logKnown || !this.#settled(nowMs)) return null
    const delayMs = this.#adaptive.decide(nowMs, this.#control.delayMs)
    if (delayMs !== null) this.#control.setDelay(delayMs, () => ({ ms: this.nowMs() ?? nowMs, playing: false }))
    return delayMs
  }

  /** A delay that was adapted before is gone on with, where all partitions have the same one and it is within the bounds. */
  #goOnWithDelay(own: ReadonlyMap<number, PartitionInForce>): void {
    if (this.#adaptive === null) return
    const { KM0_DELAY_MIN_MS: minMs, KM0_DELAY_MAX_MS: maxMs } = this.#parts.settings
    const [delayMs, ...others] = new Set([...own.values()].map(({ settings }) => settings?.delayMs))
    if (delayMs !== undefined && others.length === 0 && delayMs >= minMs && delayMs <= maxMs) this.#control.goOnWith(delayMs)
  }

  /** Writes what is queued, for `graceMs` at most. What is left was not acknowledged and comes again. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    if (this.#running === null) return
    this.#forwarder.drain()
    let timer: NodeJS.Timeout | undefined
    // A request that waits for an answer cannot be called back.
    const given = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#forwarder.abandon()
        resolve()
      }, graceMs)
    })
    await Promise.race([this.#running, given])
    clearTimeout(timer)
  }

  /** State for health and gauges. */
  get state() {
    return {
      logKnown: this.#logKnown,
      ownPartitions: this.#own,
      clockUnknown: this.nowMs() === null,
      onMachineClock: this.#play === null || this.#play.met,
      kafkaFailingSinceMs: this.#forwarder.failingSinceMs,
      kafkaUnansweredSinceMs: this.#forwarder.unansweredSinceMs,
      queueFull: this.#queue.full,
      queueMessages: this.#queue.messages,
      queueBytes: this.#queue.bytes,
      lastMessageMs: this.#intake.lastMessageMs,
      received: this.#intake.received,
      lastBeatMs: this.#control.lastBeatMs,
      delayMs: this.#control.delayMs,
    }
  }

  /** Lateness by partition, as the watermark of each will see it. Wrong clocks (rule 2 of docs/semantics.md) tell nothing of it. */
  #measure(van: string, eventMs: number | null, arrivalMs: number): void {
    if (
      this.#partitionOf === null ||
      eventMs === null ||
      !isEventMs(eventMs) ||
      offTheClock(eventMs, arrivalMs, MAX_FUTURE_MS, MAX_AGE_MS) !== null
    )
      return
    if (this.#adaptive !== null && this.#settled(arrivalMs)) this.#adaptive.observe(arrivalMs - eventMs)
    this.#parts.counters.lateness.observe({ partition: this.#partitionOf(van) }, (arrivalMs - eventMs) / 1000)
  }

  #onClock(): void {
    const nowMs = this.nowMs()
    if (nowMs === null) return
    if (this.#firstMs === null) {
      this.#firstMs = nowMs
      this.#firstOnPlayer = this.#play !== null && !this.#play.met
      this.#queue.stamp(nowMs)
    }
    if (this.#logKnown && !this.#stopped) this.#running ??= this.#forwarder.run().catch(this.#parts.onFatal)
  }

  #makeForwarder(): Forwarder {
    const { settings, counters, logger, openSender, onRoom, mayWrite } = this.#parts
    return new Forwarder(
      this.#queue,
      openSender,
      { maxBatchRecords: settings.KM0_BRIDGE_BATCH_RECORDS, maxBatchBytes: MAX_BATCH_BYTES, retryMinMs: 100, retryMaxMs: 2_000, mayWrite },
      {
        onStored: (records) => {
          counters.stored.inc(records)
          if (!this.#queue.full) onRoom()
        },
        onFailure: (error, attempt) => {
          counters.kafkaFailures.inc()
          logger.warn({ error: error.message, attempt, waiting: this.#queue.messages }, 'Kafka did not take a batch, trying again')
        },
        onRecovered: () => logger.info({ waiting: this.#queue.messages }, 'Kafka takes batches again'),
        onRefused: (refusal) => {
          counters.countRefused(refusal.reason)
          logger.warn({ ...refusal }, 'Kafka refuses a record, it goes to the dead letters')
        },
      },
    )
  }

  /** End of what may have left a backlog; null while there is no connection. */
  #recoveredMs(): number | null {
    if (this.#connectedSinceMs === null) return null
    return Math.max(this.#connectedSinceMs, this.#forwarder.outageEndedMs ?? Number.NEGATIVE_INFINITY)
  }

  #mayDrain(nowMs: number): boolean {
    const recoveredMs = this.#recoveredMs()
    return recoveredMs === null || nowMs - recoveredMs < this.#rule.backlogLimitMs
  }

  /** Nothing is being drained, so that lateness is the vans' own. */
  #settled(nowMs: number): boolean {
    return !this.#mayDrain(nowMs) && this.#forwarder.failingSinceMs === null
  }

  #holdReason(nowMs: number): HoldReason | null {
    const oldestMs = this.#queue.oldestReceivedAtMs
    const waitsLong = oldestMs !== null && nowMs - oldestMs > WAITING_MS
    return holdReason(
      {
        nowMs,
        connectedSinceMs: this.#connectedSinceMs,
        outageEndedMs: this.#forwarder.outageEndedMs,
        waitingForKafka: this.#forwarder.failingSinceMs !== null || this.#queue.full || waitsLong,
        medianExcessLatenessMs: this.#mayDrain(nowMs) ? this.#lateness.medianExcessMs(this.#recoveredMs() ?? nowMs, nowMs) : null,
      },
      { ...this.#rule, delayMs: this.#control.delayMs },
    )
  }
}

function adaptiveRules(settings: BridgeSettings) {
  const { KM0_DELAY_TARGET_SHARE: targetShare, KM0_DELAY_MIN_MS: minMs, KM0_DELAY_MAX_MS: maxMs, KM0_DELAY_EVERY_MS: everyMs } = settings
  return { targetShare, minMs, maxMs, everyMs }
}
