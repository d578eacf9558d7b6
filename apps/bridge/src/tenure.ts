import { randomUUID } from 'node:crypto'
import { MQTT_TOPICS } from '@km0/contracts'
import type { Logger, Tracer } from '@km0/runtime'
import type { Log } from '@km0/transport'
import { type MqttInput, openMqttInput } from '@km0/transport/mqtt-input'
import { openMqttPublisher, type WatchedPublisher } from '@km0/transport/mqtt-publisher'
import { HEARTBEAT_ALARM_MS, type HealthSituation } from './bridge-health.ts'
import type { BridgeCounters, BridgeGauges } from './counters.ts'
import { DECODERS } from './decoders/table.ts'
import { Neighbours } from './neighbours.ts'
import { OutageBudget } from './outage-budget.ts'
import { Pipeline } from './pipeline.ts'
import { SelfProbe } from './self-probe.ts'
import type { BridgeSettings } from './settings.ts'
import { readInForce } from './settings-in-force.ts'
import { TakeoverWatch } from './takeover-watch.ts'

const RETRY_MS = 1_000
const TICK_MS = 1_000
const DISCONNECT_MS = 1_000
const ACKNOWLEDGED_WITHIN_MS = 2_000

export interface TenureParts {
  readonly settings: BridgeSettings
  readonly log: Log
  readonly logger: Logger
  readonly counters: BridgeCounters
  /** Name of this process in heartbeats and probes. */
  readonly instance: string
  /** False while another bridge may be the active one: nothing is written and no connection is made. */
  readonly isActive: () => boolean
  readonly tracer?: Tracer | null
  /** A broken invariant: the program must end. */
  readonly onFatal: (error: unknown) => void
}

/**
 * The time during which a bridge is the active one: MQTT to Kafka, at least once. It begins with an empty queue and ends for good;
 * what it has not stored by then was not acknowledged, and comes to the next one.
 */
export class Tenure {
  readonly #parts: TenureParts
  readonly #counters: BridgeCounters
  readonly #pipeline: Pipeline
  readonly #budget: OutageBudget
  readonly #startedMs = Date.now()
  readonly #takeovers = new TakeoverWatch()
  readonly #neighbours: Neighbours
  #probeSender: WatchedPublisher | null = null
  #probe: SelfProbe | null = null
  #ended: { readonly atMs: number; readonly lastedMs: number } | null = null
  #input: MqttInput | null = null
  #connectedSinceMs: number | null = null
  #disconnectedSinceMs: number | null = Date.now()
  #stopping = false
  #timer: NodeJS.Timeout | null = null
  #neighboursTimer: NodeJS.Timeout | null = null

  constructor(parts: TenureParts) {
    const { settings, log, logger, counters, instance } = parts
    this.#parts = parts
    const limits = { messages: settings.KM0_BROKER_QUEUE_MESSAGES, bytes: settings.KM0_BROKER_QUEUE_BYTES }
    this.#budget = new OutageBudget(limits, settings.KM0_BRIDGE_BACKLOG_LIMIT_MS)
    this.#counters = counters
    this.#pipeline = new Pipeline({
      settings,
      instance,
      counters,
      logger,
      openSender: () => log.openProducer({ idempotent: true }),
      mayWrite: parts.isActive,
      machineMs: Date.now,
      tracer: parts.tracer ?? null,
      onRoom: () => this.#input?.release(),
      onProbe: (payload) => this.#probe?.returned(payload, Date.now()),
      onFatal: parts.onFatal,
    })
    const clientId = settings.KM0_BRIDGE_CLIENT_ID
    this.#neighbours = new Neighbours({
      log,
      clientId,
      nowMs: () => this.#pipeline.nowMs() ?? Date.now(),
      onFound: (other, partitions) =>
        logger.error({ other, partitions }, 'another bridge writes into partitions of this one: give each bridge partitions of its own'),
    })
  }

  /** Connects both sides. Returns at once: either may be away and is tried for ever. */
  start(): void {
    this.#openProbe()
    // In play mode the log says where the clock stood: a tick before that would leave out the heartbeats between.
    const listenFirst = this.#parts.settings.KM0_CLOCK === 'machine'
    if (listenFirst) this.#input = this.#openInput()
    this.#readLog(listenFirst).catch((error: unknown) => this.#parts.onFatal(error))
    this.#timer = setInterval(() => this.#everySecond(), TICK_MS)
  }

  /** Takes nothing more, writes what is queued for `graceMs` at most, acknowledges, disconnects. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true
    for (const timer of [this.#timer, this.#neighboursTimer]) if (timer !== null) clearInterval(timer)
    this.#input?.stopTaking()
    await this.#pipeline.stop(graceMs)
    await Promise.all([this.#input?.close(DISCONNECT_MS), this.#probeSender?.close(true)])
    this.#parts.logger.info({ left: this.#pipeline.state.queueMessages }, 'stopped; what is left comes again from the broker')
  }

  #openProbe(): void {
    const { settings, logger } = this.#parts
    if (settings.KM0_BRIDGE_PROBE_EVERY_MS === 0) return
    this.#probeSender = openMqttPublisher({
      url: settings.MQTT_URL,
      clientId: `${settings.KM0_BRIDGE_CLIENT_ID}-sonda-${randomUUID().slice(0, 8)}`,
      keepaliveSeconds: settings.KM0_BRIDGE_KEEPALIVE_SECONDS,
      onError: (error) => logger.debug({ error: error.message }, 'MQTT error of the probe'),
    })
    this.#probe = new SelfProbe(
      { instance: this.#parts.instance, everyMs: settings.KM0_BRIDGE_PROBE_EVERY_MS, limitMs: settings.KM0_BRIDGE_PROBE_LIMIT_MS },
      this.#probeSender,
    )
  }

  #openInput(): MqttInput {
    const { settings, logger } = this.#parts
    const filters = [
      ...(settings.KM0_BRIDGE_FILTERS ?? settings.KM0_BRIDGE_FORMATS.map((name) => DECODERS[name].filter)),
      ...(settings.KM0_CLOCK === 'play' ? [MQTT_TOPICS.clock] : []),
      ...(settings.KM0_BRIDGE_PROBE_EVERY_MS > 0 ? [MQTT_TOPICS.probe] : []),
    ]
    return openMqttInput(
      {
        url: settings.MQTT_URL,
        clientId: settings.KM0_BRIDGE_CLIENT_ID,
        filters,
        keepaliveSeconds: settings.KM0_BRIDGE_KEEPALIVE_SECONDS,
        connectTimeoutMs: 10_000,
        reconnectMinMs: 250,
        reconnectMaxMs: 5_000,
        mayConnect: this.#parts.isActive,
      },
      {
        onDelivery: (delivery) => this.#pipeline.take(delivery),
        onConnected: (sessionPresent) => this.#onConnected(sessionPresent),
        onDisconnected: () => this.#onDisconnected(),
        onSubscribed: () => {
          this.#disconnectedSinceMs = null
          logger.info({ filters }, 'subscribed')
        },
        onError: (error) => logger.warn({ error: error.message }, 'MQTT error'),
      },
    )
  }

  #onConnected(sessionPresent: boolean): void {
    this.#counters.connections.inc()
    this.#judgeEnd()
    this.#connectedSinceMs = Date.now()
    this.#pipeline.setConnected(this.#connectedSinceMs)
    if (this.#input?.subscribed() === true) this.#disconnectedSinceMs = null
    this.#parts.logger.info({ sessionPresent }, 'connected to the MQTT broker')
  }

  /** Only a new connection shows whether the broker was there all the time. */
  #judgeEnd(): void {
    const end = this.#ended
    this.#ended = null
    if (end === null) return
    const sinceMs = this.#probeSender?.connectedSinceMs()
    const otherStood = this.#probeSender === null ? null : typeof sinceMs === 'number' && sinceMs < end.atMs
    if (!this.#takeovers.ended({ ...end, otherStood })) return
    const { KM0_BRIDGE_CLIENT_ID: clientId, KM0_BRIDGE_TAKEOVER_WAIT_MS: waitMs } = this.#parts.settings
    this.#parts.logger.error({ clientId, waitMs }, 'another client connects with our client id: the two throw each other out')
  }

  #onDisconnected(): number | undefined {
    this.#counters.disconnections.inc()
    const lastedMs = Date.now() - (this.#connectedSinceMs ?? Date.now())
    this.#connectedSinceMs = null
    this.#disconnectedSinceMs = Date.now()
    this.#pipeline.setConnected(null)
    if (this.#stopping) return undefined
    this.#parts.logger.warn({ lastedMs }, 'the connection to the MQTT broker ended')
    this.#ended = { atMs: Date.now(), lastedMs }
    return this.#takeovers.suspected(Date.now()) ? this.#parts.settings.KM0_BRIDGE_TAKEOVER_WAIT_MS : undefined
  }

  /** Reads the log, again until it answers; listens to MQTT from then on if it does not yet. */
  async #readLog(listening: boolean): Promise<void> {
    const { log, logger } = this.#parts
    while (!this.#stopping && !this.#pipeline.state.logKnown) {
      const inForce = await readInForce(log).catch((error: unknown) => {
        logger.warn({ error: error instanceof Error ? error.message : String(error) }, 'the log cannot be read yet')
        return null
      })
      if (inForce === null) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        continue
      }
      this.#pipeline.know(inForce)
      logger.info({ partitions: this.#pipeline.state.ownPartitions }, 'log read')
    }
    this.#watchNeighbours()
    if (!listening && !this.#stopping) this.#input = this.#openInput()
  }

  #watchNeighbours(): void {
    const { settings, logger } = this.#parts
    const everyMs = settings.KM0_BRIDGE_NEIGHBOURS_EVERY_MS
    if (everyMs === 0 || this.#stopping) return
    let looking = false
    const look = async () => {
      if (looking) return
      looking = true
      await this.#neighbours
        .look(this.#pipeline.state.ownPartitions)
        .catch((error: unknown) => logger.debug({ error: String(error) }, 'other bridges cannot be looked for now'))
      looking = false
    }
    void look()
    this.#neighboursTimer = setInterval(() => void look(), everyMs)
  }

  #everySecond(): void {
    const taking = this.#input?.subscribed() === true && !this.#input.held()
    const { received, lastMessageMs, kafkaUnansweredSinceMs } = this.#pipeline.state
    this.#budget.observe(Date.now(), received, taking)
    // While Kafka takes nothing, nothing is acknowledged, and a broker that has given all it may without that gives nothing more.
    const acknowledging = kafkaUnansweredSinceMs === null || Date.now() - kafkaUnansweredSinceMs < ACKNOWLEDGED_WITHIN_MS
    if (this.#probe?.tick(Date.now(), taking && acknowledging, lastMessageMs) === true) {
      this.#parts.logger.error(
        { seconds: this.#probe.secondsSinceReturn(Date.now()) },
        'nothing comes in, not even our probe: connecting anew',
      )
      this.#input?.renew()
    }
    const delayMs = this.#pipeline.adaptDelay()
    if (delayMs !== null) this.#parts.logger.info({ seconds: delayMs / 1_000 }, 'the delay follows how late positions come')
    const reason = this.#pipeline.beatWhenDue()
    if (reason !== null) this.#counters.countHeld(reason, TICK_MS / 1000)
  }

  #heartbeatAlarm(): boolean {
    const { onMachineClock, lastBeatMs } = this.#pipeline.state
    return onMachineClock && Date.now() - Math.max(lastBeatMs ?? 0, this.#startedMs) > HEARTBEAT_ALARM_MS
  }

  /** For health. */
  situation(): HealthSituation {
    return {
      ...this.#pipeline.state,
      nowMs: Date.now(),
      startedMs: this.#startedMs,
      subscribed: this.#input?.subscribed() === true,
      disconnectedSinceMs: this.#disconnectedSinceMs,
      heartbeatAlarm: this.#heartbeatAlarm(),
      probe: this.#probe?.verdict(Date.now()) ?? 'ok',
      neighbours: this.#neighbours.present,
      sharedClientId: this.#takeovers.suspected(Date.now()) ? this.#parts.settings.KM0_BRIDGE_CLIENT_ID : null,
    }
  }

  gauges(): BridgeGauges {
    const { queueMessages, queueBytes, lastMessageMs, lastBeatMs, delayMs } = this.#pipeline.state
    const since = (ms: number | null) => (ms === null ? null : (Date.now() - ms) / 1000)
    return {
      queueMessages,
      queueBytes,
      delaySeconds: delayMs / 1_000,
      held: this.#input?.held() === true,
      connected: this.#input?.subscribed() === true,
      secondsSinceMessage: since(lastMessageMs),
      secondsSinceHeartbeat: since(lastBeatMs),
      heartbeatAlarm: this.#heartbeatAlarm(),
      secondsSinceProbe: this.#probe?.secondsSinceReturn(Date.now()) ?? null,
      deaf: this.#probe?.verdict(Date.now()) === 'deaf',
      sharedClientId: this.#takeovers.suspected(Date.now()),
      outageBudgetSeconds: this.#budget.secondsLeft,
      partitionsShared: new Set([...this.#neighbours.present.values()].flat()).size,
    }
  }
}
