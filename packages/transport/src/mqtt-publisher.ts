import mqtt from 'mqtt'
import { mqttAddress } from './address.ts'

export interface MqttPublisherSettings {
  readonly url: string
  readonly clientId?: string
  /** Longest silence on the connection before it is probed. Default 30. */
  readonly keepaliveSeconds?: number
  /** Called for every connection error; the client reconnects by itself. */
  readonly onError?: (error: Error) => void
}

export interface MqttPublisher {
  connected(): boolean
  /**
   * Publishes and resolves when the broker has acknowledged (QoS 1, the default) or the packet was written (QoS 0).
   * A QoS 1 message is sent again after a reconnect until it is acknowledged. Rejects when the publisher is closed first.
   */
  publish(topic: string, payload: string | Buffer, options?: { readonly qos?: 0 | 1; readonly retain?: boolean }): Promise<void>
  /** Waits for what is unacknowledged, disconnects. `abandon` drops both. */
  close(abandon?: boolean): Promise<void>
}

/** A publisher that also tells how its connection is. */
export interface WatchedPublisher extends MqttPublisher {
  /** Machine time since when the connection stands; null while it does not. */
  connectedSinceMs(): number | null
}

/** Connects a client that only publishes. Resolves at once: what is published before the connection stands waits for it. */
export function openMqttPublisher(settings: MqttPublisherSettings): WatchedPublisher {
  const [url, secured] = mqttAddress(settings.url)
  const client = mqtt.connect(url, {
    ...secured,
    ...(settings.clientId === undefined ? {} : { clientId: settings.clientId }),
    protocolVersion: 4,
    clean: true,
    keepalive: settings.keepaliveSeconds ?? 30,
    reconnectPeriod: 500,
    connectTimeout: 10_000,
    reconnectOnConnackError: true,
  })
  let connectedSinceMs: number | null = null
  let isClosing = false
  client.on('connect', () => {
    connectedSinceMs = Date.now()
  })
  client.on('close', () => {
    connectedSinceMs = null
  })
  client.on('error', (error) => settings.onError?.(error))
  return {
    connected: () => client.connected,
    connectedSinceMs: () => connectedSinceMs,
    publish: async (topic, payload, options = {}) => {
      const qos = options.qos ?? 1
      for (;;) {
        try {
          await client.publishAsync(topic, payload, { qos, retain: options.retain ?? false })
          return
        } catch (error) {
          if (qos === 0 || isClosing || !isDropped(error)) throw error
        }
      }
    },
    close: (abandon = false) => {
      isClosing = true
      return client.endAsync(abandon)
    },
  }
}

/**
 * mqtt.js 5.16 gives up what was published while it repeats the messages of the connection before, when this connection ends too: they wait
 * in a queue of their own that is emptied then. They were never sent.
 */
function isDropped(error: unknown): boolean {
  return error instanceof Error && error.message === 'Connection closed'
}
