import { randomUUID } from 'node:crypto'
import { TOPICS } from '@km0/contracts'
import type { Health, Logger, Registry, Tracer } from '@km0/runtime'
import type { Log } from '@km0/transport'
import { type Lease, openLease } from '@km0/transport/log-lease'
import { leaseHealth, registerHealth } from './bridge-health.ts'
import { BridgeCounters, registerGauges } from './counters.ts'
import type { BridgeSettings } from './settings.ts'
import { Tenure } from './tenure.ts'

export interface BridgeParts {
  readonly settings: BridgeSettings
  readonly log: Log
  readonly logger: Logger
  readonly metrics: Registry
  readonly health: Health
  readonly tracer?: Tracer | null
  /** A broken invariant: the program must end. */
  readonly onFatal: (error: unknown) => void
}

/**
 * The bridge of one process. Without a lease it is active from start to end. With one it stands by, without any connection to the MQTT
 * broker, until the lease is given to it; it then takes the session of the common client id over, with what is parked in it. When
 * another one has got the lease it ends its tenure and stands by again.
 */
export class Bridge {
  readonly #parts: BridgeParts
  readonly #counters: BridgeCounters
  readonly #instance: string
  #tenures = 0
  readonly #startedMs = Date.now()
  #lease: Lease | null = null
  #tenure: Tenure | null = null
  /** Ends of tenures, one after the other. */
  #ending: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(parts: BridgeParts) {
    this.#parts = parts
    this.#counters = new BridgeCounters(parts.metrics)
    this.#instance = parts.settings.KM0_BRIDGE_INSTANCE ?? randomUUID()
    registerHealth(parts.health, () => this.#tenure?.situation() ?? null)
    registerGauges(parts.metrics, () => this.#tenure?.gauges() ?? null)
    if (parts.settings.KM0_BRIDGE_LEASE === 'none') return
    parts.health.register('lease', () =>
      leaseHealth({
        nowMs: Date.now(),
        startedMs: this.#startedMs,
        state: this.#lease?.state() ?? 'no',
        lastContactMs: this.#lease?.lastContactMs() ?? null,
      }),
    )
  }

  /** Returns at once: MQTT and Kafka may be away and are tried for ever. */
  start(): void {
    const { settings, logger } = this.#parts
    if (settings.KM0_BRIDGE_LEASE === 'none') {
      this.#begin()
      return
    }
    this.#lease = openLease({
      brokers: settings.KAFKA_BROKERS,
      clientId: `${settings.KM0_BRIDGE_CLIENT_ID}-torn`,
      groupId: `km0-torn-${settings.KM0_BRIDGE_CLIENT_ID}`,
      topic: TOPICS.bridgeLease.name,
      onHeld: () => this.#onHeld(),
      onLost: () => this.#onLost(),
      onTrouble: (error) => logger.warn({ error: error.message }, 'the lease cannot be asked for, trying again'),
    })
  }

  /** Writes what is queued within the time that is set for it, disconnects, and gives the lease back. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#ending
    await this.#tenure?.stop(this.#parts.settings.KM0_BRIDGE_STOP_MS)
    await this.#lease?.stop()
    this.#parts.logger.info('bridge stopped')
  }

  #begin(): void {
    const { settings, log, logger, onFatal } = this.#parts
    this.#tenures += 1
    const tenure: Tenure = new Tenure({
      settings,
      log,
      logger,
      counters: this.#counters,
      tracer: this.#parts.tracer ?? null,
      // What a tenure has received and not written goes to the next one: each counts for itself.
      instance: this.#tenures === 1 ? this.#instance : `${this.#instance}/${this.#tenures}`,
      isActive: () => this.#tenure === tenure && (this.#lease === null || this.#lease.state() === 'held'),
      onFatal,
    })
    this.#tenure = tenure
    tenure.start()
  }

  #onHeld(): void {
    this.#ending = this.#ending.then(() => {
      // It may be lost again by now, or be ours still.
      if (this.#stopping || this.#tenure !== null || this.#lease?.state() !== 'held') return
      this.#parts.logger.info('this bridge is the active one')
      this.#begin()
    })
    this.#ending.catch(this.#parts.onFatal)
  }

  #onLost(): void {
    const tenure = this.#tenure
    if (tenure === null) {
      this.#parts.logger.info('another bridge is the active one, standing by')
      return
    }
    this.#tenure = null
    this.#parts.logger.warn('another bridge has become the active one: stopping what this one did, standing by')
    this.#ending = this.#ending.then(() => tenure.stop(0))
    this.#ending.catch(this.#parts.onFatal)
  }
}
