import type { Client } from 'aedes'
import { generate } from 'mqtt-packet'

const OVERHEAD_BYTES = 100
const LARGEST_MESSAGE_ID = 65_535

export interface QueueLimits {
  /** Largest number of messages kept for one session; what comes on top is dropped and counted. */
  readonly maxQueuedMessages: number
  /** The same in bytes of topic and payload. */
  readonly maxQueuedBytes: number
  /** Messages sent on a connection and not yet acknowledged. */
  readonly maxInflightMessages: number
}

export interface QueuedMessage {
  readonly sequence: number
  readonly topic: string
  readonly payload: Buffer
  readonly qos: 1 | 2
  /** Of the connection on which it was sent last. */
  messageId?: number
  sent?: boolean
  /** QoS 2: the receiver has it (PUBREC); only the release is still to be confirmed. */
  received?: boolean
}

/** Fields of aedes 1.2.0's Client that are not in its types; held by the adapter test. */
type Connection = Client & { _nextId: number }

/**
 * Messages of one session that outlives its connections, in order of arrival, and the only sender of them: at most
 * `maxInflightMessages` are unacknowledged, and while the peer does not read, nothing is written, so that pings still pass and
 * no other client waits. At a new connection everything unacknowledged goes out again, in order, before anything newer.
 */
export class SessionQueue {
  readonly #limits: QueueLimits
  readonly #entries = new Map<number, QueuedMessage>()
  readonly #inflight = new Map<number, QueuedMessage>()
  #unsent: QueuedMessage[] = []
  #unsentHead = 0
  #bytes = 0
  #client: Connection | null = null
  dropped = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether one more message of this size fits. */
  hasRoom(bytes: number): boolean {
    return this.#entries.size < this.#limits.maxQueuedMessages && this.#bytes + bytes + OVERHEAD_BYTES <= this.#limits.maxQueuedBytes
  }

  add(message: QueuedMessage): void {
    this.#entries.set(message.sequence, message)
    this.#bytes += sizeOf(message)
    this.#unsent.push(message)
  }

  /** The session has a connection that may receive: everything is sent again. */
  attach(client: Client): void {
    this.#client = client as Connection
    this.#inflight.clear()
    this.#unsent = []
    this.#unsentHead = 0
    for (const message of this.#entries.values()) {
      if (message.received && message.messageId !== undefined) {
        this.#inflight.set(message.messageId, message)
        client.conn.write(generate({ cmd: 'pubrel', messageId: message.messageId }))
      } else {
        this.#unsent.push(message)
      }
    }
    this.pump()
  }

  detach(client: Client): void {
    if (this.#client === client) this.#client = null
  }

  /** Sends what the window and the peer's reading allow. */
  pump(): void {
    const client = this.#client
    if (client === null) return
    const { conn } = client
    while (
      this.#unsentHead < this.#unsent.length &&
      this.#inflight.size < this.#limits.maxInflightMessages &&
      !conn.destroyed &&
      conn.writableLength < conn.writableHighWaterMark / 2
    ) {
      const message = this.#unsent[this.#unsentHead++] as QueuedMessage
      message.messageId = this.#freeMessageId(client)
      this.#inflight.set(message.messageId, message)
      const { topic, payload, qos, messageId } = message
      const packet = generate({ cmd: 'publish', topic, payload, qos, messageId, dup: message.sent === true, retain: false })
      message.sent = true
      conn.write(packet, () => this.pump())
    }
    this.#forgetSentHead()
  }

  /** The receiver of a QoS 2 message has it. False for an id that is not in flight. */
  received(messageId: number): boolean {
    const message = this.#inflight.get(messageId)
    if (message) message.received = true
    return message !== undefined
  }

  /** Takes the acknowledged message out; undefined for an id that is not in flight. */
  acknowledge(messageId: number): QueuedMessage | undefined {
    const message = this.#inflight.get(messageId)
    if (message === undefined) return undefined
    this.#inflight.delete(messageId)
    this.#entries.delete(message.sequence)
    this.#bytes -= sizeOf(message)
    return message
  }

  sequences(): number[] {
    return [...this.#entries.keys()]
  }

  /** aedes takes ids for retained copies from the same counter, so the two never meet. */
  #freeMessageId(client: Connection): number {
    for (;;) {
      const id = client._nextId
      client._nextId = id >= LARGEST_MESSAGE_ID ? 1 : id + 1
      if (id > 0 && !this.#inflight.has(id)) return id
    }
  }

  #forgetSentHead(): void {
    if (this.#unsentHead < 1_000 || this.#unsentHead * 2 < this.#unsent.length) return
    this.#unsent = this.#unsent.slice(this.#unsentHead)
    this.#unsentHead = 0
  }
}

function sizeOf(message: { readonly topic: string; readonly payload: Buffer }): number {
  return message.topic.length + message.payload.length + OVERHEAD_BYTES
}
