import type { MqttPublisher } from '@km0/transport/mqtt-publisher'
import type { Outgoing } from '../messages/outgoing.ts'

/**
 * A bounded number of unacknowledged messages. The broker sets no bound itself, so this one is what keeps a fast player from flooding
 * it and the bridge behind it. Messages leave in the order of `push`.
 */
export class PublishWindow {
  readonly #publisher: MqttPublisher
  readonly #size: number
  readonly #onAcknowledged: (message: Outgoing) => void
  readonly #wake = new Set<() => void>()
  #inFlight = 0
  #acknowledged = 0
  #failure: unknown

  constructor(publisher: MqttPublisher, size: number, onAcknowledged: (message: Outgoing) => void) {
    this.#publisher = publisher
    this.#size = size
    this.#onAcknowledged = onAcknowledged
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /**
   * Publishes when there is room. Resolves false, without publishing, when `signal` aborts first.
   * Rejects when an earlier message could not be published (the publisher was closed).
   */
  async push(message: Outgoing, signal: AbortSignal): Promise<boolean> {
    while (this.#inFlight >= this.#size && !signal.aborted) await this.#change(signal)
    if (this.#failure !== undefined) throw this.#failure
    if (signal.aborted) return false
    this.#inFlight += 1
    void this.#publish(message)
    return true
  }

  /** Resolves when everything is acknowledged, or with the number that is not when `signal` aborts. */
  async flush(signal: AbortSignal): Promise<number> {
    while (this.#inFlight > 0 && !signal.aborted) await this.#change(signal)
    return this.#inFlight
  }

  async #publish(message: Outgoing): Promise<void> {
    try {
      await this.#publisher.publish(message.topic, message.payload)
      this.#acknowledged += 1
      this.#onAcknowledged(message)
    } catch (error) {
      this.#failure ??= error
    }
    this.#inFlight -= 1
    for (const wake of this.#wake) wake()
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wake.add(wake)
      signal.addEventListener('abort', wake)
    })
  }
}
