import mqtt, { type IPublishPacket, type MqttClient } from 'mqtt'
import { mqttAddress } from './address.ts'

/** One message as the broker delivered it. */
export interface MqttDelivery {
  readonly topic: string
  readonly payload: Buffer
  /** A retained copy: what the broker had kept when we subscribed, not something that happened now. */
  readonly retain: boolean
  /** Number of the connection that delivered it; acknowledgements of an older one are void. */
  readonly connection: number
  /**
   * Sends the PUBACK, if the connection that delivered the message still stands; false when it does not, and the broker
   * delivers the message again. QoS 0 needs none: true.
   */
  acknowledge(): boolean
}

export interface MqttInputSettings {
  readonly url: string
  /** Fixed: the broker parks messages under it while we are away. */
  readonly clientId: string
  readonly filters: readonly string[]
  /** A connection without an answer for 1.5 times this is given up. */
  readonly keepaliveSeconds: number
  readonly connectTimeoutMs: number
  readonly reconnectMinMs: number
  readonly reconnectMaxMs: number
  /** Asked before each reconnect, for whoever shares the client id with others. Absent: always. */
  readonly mayConnect?: () => boolean
}

export interface MqttInputEvents {
  /** Takes a message. `hold` says that there is no room for another one until `release()` is called. */
  onDelivery(delivery: MqttDelivery): 'more' | 'hold'
  onConnected(sessionPresent: boolean): void
  /** May return the ms to wait before the next connection, where the usual backoff is not right. */
  onDisconnected(): number | undefined
  /** The broker has granted every filter. */
  onSubscribed(): void
  /** Whatever goes wrong on the connection. It is mended by reconnecting. */
  onError(error: Error): void
}

export interface MqttInput {
  connected(): boolean
  /** True when every filter is granted on the session in force. */
  subscribed(): boolean
  held(): boolean
  /** There is room again after `hold`. */
  release(): void
  /** Gives the connection up and subscribes again on a new one: this one brings nothing. */
  renew(): void
  /** Takes no further message; what comes stays unacknowledged, so the broker keeps it. Acknowledging goes on working. */
  stopTaking(): void
  /** Disconnects politely, within `graceMs`. The session stays at the broker. */
  close(graceMs: number): Promise<void>
}

/** What mqtt.js keeps to itself and deferred acknowledgement needs. Pinned to 5.16.0; mqtt-input.test.ts says when it changes. */
interface PrivateClient {
  _sendPacket(packet: { readonly cmd: 'puback'; readonly messageId: number }): void
}

/** A connection that lasted this long was a good one: the next reconnect is quick again. */
const STABLE_MS = 10_000
/** Share of the keepalive after which a held connection is pinged. */
const HOLD_PING_SHARE = 0.3
const DEFERRED = new Error('acknowledged later')

/**
 * Connects with a persistent session and delivers at least once: a PUBACK goes out only when `acknowledge()` is called.
 * Reconnects for ever, with backoff; subscribes again when the broker has lost the session.
 */
export function openMqttInput(settings: MqttInputSettings, events: MqttInputEvents): MqttInput {
  const [url, secured] = mqttAddress(settings.url)
  const client = mqtt.connect(url, {
    ...secured,
    clientId: settings.clientId,
    // aedes speaks no MQTT 5.
    protocolVersion: 4,
    clean: false,
    keepalive: settings.keepaliveSeconds,
    reconnectPeriod: settings.reconnectMinMs,
    connectTimeout: settings.connectTimeoutMs,
    reconnectOnConnackError: true,
    // Ours knows whether a SUBACK was lost.
    resubscribe: false,
  })
  return new DeferredInput(client, settings, events)
}

class DeferredInput implements MqttInput {
  readonly #client: MqttClient
  readonly #settings: MqttInputSettings
  readonly #events: MqttInputEvents
  readonly #pingTimer: NodeJS.Timeout
  #taking = true
  #subscribed = false
  #connection = 0
  #connectedAtMs: number | null = null
  #heldCallback: (() => void) | null = null

  constructor(client: MqttClient, settings: MqttInputSettings, events: MqttInputEvents) {
    if (typeof (client as unknown as Partial<PrivateClient>)._sendPacket !== 'function') {
      throw new Error('mqtt.js has changed: deferred acknowledgement needs _sendPacket of 5.16.0')
    }
    this.#client = client
    this.#settings = settings
    this.#events = events
    const connect = client.connect.bind(client)
    // The timer of mqtt.js goes on and asks again.
    client.connect = () => (settings.mayConnect?.() === false ? client : connect())
    client.handleMessage = (packet, callback) => this.#take(packet, callback)
    client.on('connect', (packet) => this.#onConnect(packet.sessionPresent))
    // Before the client's own listener, which plans the reconnect with the period that it finds.
    client.prependListener('close', () => this.#onClose())
    client.on('error', (error) => this.#onError(error))
    this.#pingTimer = setInterval(() => this.#pingWhileHeld(), settings.keepaliveSeconds * 1000 * HOLD_PING_SHARE)
  }

  connected(): boolean {
    return this.#client.connected
  }

  subscribed(): boolean {
    return this.#subscribed && this.#client.connected
  }

  held(): boolean {
    return this.#heldCallback !== null
  }

  release(): void {
    const callback = this.#heldCallback
    this.#heldCallback = null
    callback?.()
  }

  renew(): void {
    this.#subscribed = false
    if (this.#client.connected) this.#client.stream.destroy()
  }

  stopTaking(): void {
    this.#taking = false
    this.release()
  }

  async close(graceMs: number): Promise<void> {
    clearInterval(this.#pingTimer)
    this.stopTaking()
    let timer: NodeJS.Timeout | undefined
    // mqtt.js waits for ever for the answer to a subscription that is still open.
    const given = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#client.stream.destroy()
        resolve()
      }, graceMs)
    })
    await Promise.race([this.#client.endAsync(!this.#client.connected), given])
    clearTimeout(timer)
  }

  #take(packet: IPublishPacket, callback: (error?: Error) => void): void {
    if (!this.#taking) {
      callback(DEFERRED)
      return
    }
    const { topic, payload, retain } = packet
    const verdict = this.#events.onDelivery({
      topic,
      payload: typeof payload === 'string' ? Buffer.from(payload) : payload,
      retain,
      connection: this.#connection,
      acknowledge: this.#acknowledger(packet),
    })
    // An error in this callback sends no PUBACK and lets the parser go on; no callback stops the parser, and in time the broker.
    if (verdict === 'hold') this.#heldCallback = () => callback(DEFERRED)
    else callback(DEFERRED)
  }

  #acknowledger({ qos, messageId }: IPublishPacket): () => boolean {
    if (qos === 0 || messageId === undefined) return () => true
    const { stream } = this.#client
    return () => {
      // Packet ids are used again on the next connection, and mqtt.js would queue the acknowledgement for it.
      if (!this.#client.connected || this.#client.stream !== stream) return false
      ;(this.#client as unknown as PrivateClient)._sendPacket({ cmd: 'puback', messageId })
      return true
    }
  }

  #onConnect(sessionPresent: boolean): void {
    this.#connectedAtMs = Date.now()
    this.#connection += 1
    if (!sessionPresent) this.#subscribed = false
    this.#events.onConnected(sessionPresent)
    if (this.#subscribed) return
    const { stream } = this.#client
    this.#client.subscribe([...this.#settings.filters], { qos: 1 }, (error, granted) => {
      if (this.#client.stream !== stream) return
      if (error === null && granted?.every((grant) => grant.qos === 1)) {
        this.#subscribed = true
        this.#events.onSubscribed()
        return
      }
      this.#onError(new Error(`the broker does not grant ${this.#settings.filters.join(' ')} at QoS 1`, { cause: error }))
    })
  }

  #onClose(): void {
    const lastedMs = this.#connectedAtMs === null ? 0 : Date.now() - this.#connectedAtMs
    const { reconnectMinMs, reconnectMaxMs } = this.#settings
    const { options } = this.#client
    options.reconnectPeriod =
      lastedMs >= STABLE_MS ? reconnectMinMs : Math.min(reconnectMaxMs, (options.reconnectPeriod ?? reconnectMinMs) * 2)
    const wasConnected = this.#connectedAtMs !== null
    this.#connectedAtMs = null
    // The message itself is in our queue; the parser of a dead connection has nothing more to say.
    this.release()
    if (!wasConnected) return
    const waitMs = this.#events.onDisconnected()
    if (waitMs !== undefined) options.reconnectPeriod = waitMs
  }

  #onError(error: Error): void {
    this.#events.onError(error)
    // mqtt.js goes deaf after an error of its parser: a fresh connection hears again.
    if (this.#client.connected) this.#client.stream.destroy()
  }

  /** A parser that is held reads no PINGRESP either: without this the client would give up a connection that is well. */
  #pingWhileHeld(): void {
    if (this.#heldCallback === null || !this.#client.connected) return
    this.#client.sendPing()
    this.#client.reschedulePing(true)
  }
}
