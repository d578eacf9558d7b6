import { MQTT_TOPICS } from '@km0/contracts'

/** The second MQTT connection, on which probes go out. */
export interface ProbeSender {
  connected(): boolean
  publish(topic: string, payload: string): Promise<void>
}

export interface SelfProbeSettings {
  /** Name of this process: probes of others, and of a life before, say nothing. */
  readonly instance: string
  readonly everyMs: number
  /** Silence after which the input counts as deaf. */
  readonly limitMs: number
}

/** Whether the input hears: `deaf` when neither a probe nor a message came for too long; `unsent` when the broker takes no probes. */
export type ProbeVerdict = 'ok' | 'deaf' | 'unsent'

/**
 * Publishes a probe every 10 s on a second connection and expects it on the bridge's own subscription. It finds an input that is
 * connected and brings nothing: a subscription that is gone, a session that is stuck. Time counts only while the input listens, that is
 * subscribed and not held, and starts anew with each connection; a message of a van is as good a sign as a probe.
 */
export class SelfProbe {
  readonly #settings: SelfProbeSettings
  readonly #sender: ProbeSender
  #number = 0
  #sentMs = Number.NEGATIVE_INFINITY
  #takenMs: number | null = null
  #returnedMs: number | null = null
  #heardMs: number | null = null
  #listeningSinceMs: number | null = null
  #deafSinceMs: number | null = null

  constructor(settings: SelfProbeSettings, sender: ProbeSender) {
    this.#settings = settings
    this.#sender = sender
  }

  /**
   * About once a second: sends a probe when one is due. `lastMessageMs` is when the last message came that is no probe. Returns true
   * when the input is deaf and had better connect and subscribe again; not before it has had its time on a new connection, too.
   */
  tick(nowMs: number, listening: boolean, lastMessageMs: number | null): boolean {
    this.#heardMs = lastMessageMs
    this.#listeningSinceMs = listening ? (this.#listeningSinceMs ?? nowMs) : null
    if (!listening) return false
    if (nowMs - this.#sentMs >= this.#settings.everyMs && this.#sender.connected()) this.#send(nowMs)
    const lastMs = Math.max(this.#returnedMs ?? 0, this.#heardMs ?? 0)
    if (this.#deafSinceMs !== null && lastMs > this.#deafSinceMs) this.#deafSinceMs = null
    const isLate = nowMs - Math.max(this.#listeningSinceMs ?? nowMs, lastMs) > this.#settings.limitMs
    if (!isLate || this.#isUnsent(nowMs)) return false
    this.#deafSinceMs ??= nowMs
    this.#listeningSinceMs = null
    return true
  }

  /** A message on the topic of probes came. */
  returned(payload: Buffer, nowMs: number): void {
    if (!payload.includes(`"pont":${JSON.stringify(this.#settings.instance)},`)) return
    this.#returnedMs = nowMs
  }

  /** Seconds since the last probe came back; null before the first. */
  secondsSinceReturn(nowMs: number): number | null {
    return this.#returnedMs === null ? null : (nowMs - this.#returnedMs) / 1000
  }

  verdict(nowMs: number): ProbeVerdict {
    if (this.#deafSinceMs !== null) return 'deaf'
    return this.#isUnsent(nowMs) ? 'unsent' : 'ok'
  }

  #isUnsent(nowMs: number): boolean {
    if (this.#listeningSinceMs === null) return false
    return nowMs - Math.max(this.#listeningSinceMs, this.#takenMs ?? 0) > this.#settings.limitMs
  }

  #send(nowMs: number): void {
    this.#sentMs = nowMs
    this.#number += 1
    const payload = JSON.stringify({ pont: this.#settings.instance, n: this.#number })
    // One that is not taken shows as a time that grows.
    this.#sender.publish(MQTT_TOPICS.probe, payload).then(
      () => {
        this.#takenMs = nowMs
      },
      () => undefined,
    )
  }
}
