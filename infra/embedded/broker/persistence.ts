import { Readable } from 'node:stream'
import type { Client, PublishPacket, Subscription } from 'aedes'
import MemoryPersistence from 'aedes-persistence/asyncPersistence.js'
import type { Journal } from './journal.ts'
import { type QueuedMessage, type QueueLimits, SessionQueue } from './session-queue.ts'

/** Key prefixes of the journal. Client ids and topics are percent-encoded, so that `/` only separates. */
const QUEUED = 'queued/'
const SUBSCRIPTION = 'subscription/'
const RETAINED = 'retained/'
const WILL = 'will/'

type Packet = Parameters<MemoryPersistence['storeRetained']>[0]
type Will = Parameters<MemoryPersistence['putWill']>[1]

/** Header as JSON, a zero byte, payload. */
function encode(header: object, payload: Uint8Array | string): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\0`), Buffer.from(payload)])
}

function decode(value: Buffer): { header: Record<string, unknown>; payload: Buffer } {
  const end = value.indexOf(0)
  return { header: JSON.parse(value.toString('utf8', 0, end)), payload: value.subarray(end + 1) }
}

const queuedKey = (client: string, sequence: number) => `${QUEUED}${encodeURIComponent(client)}/${String(sequence).padStart(16, '0')}`
const subscriptionKey = (client: string, topic: string) => `${SUBSCRIPTION}${encodeURIComponent(client)}/${encodeURIComponent(topic)}`

/**
 * What aedes must remember: everything is read from memory and written to a journal, from which the next start reads it back.
 * Two things differ from aedes's own: a message is queued for absent and present sessions *before* its PUBACK (`accept`; aedes itself
 * acknowledges first and stores afterwards), and sessions are served by their SessionQueue alone.
 * QoS 2 is exactly once while the broker lives, at least once across its restart.
 */
export class JournalPersistence extends MemoryPersistence {
  readonly #journal: Journal
  readonly #limits: QueueLimits
  readonly #queues = new Map<string, SessionQueue>()
  #sequence = 0

  constructor(journal: Journal, limits: QueueLimits) {
    super()
    this.#journal = journal
    this.#limits = limits
  }

  override async setup(broker: unknown): Promise<void> {
    await super.setup(broker)
    for await (const [, value] of this.#journal.read(SUBSCRIPTION)) {
      const { client, ...subscription } = decode(value).header
      await super.addSubscriptions({ id: client } as Client, [subscription as unknown as Subscription])
    }
    for await (const [, value] of this.#journal.read(RETAINED)) {
      const { header, payload } = decode(value)
      await super.storeRetained({ ...header, payload } as unknown as Packet)
    }
    for await (const [, value] of this.#journal.read(WILL)) {
      const { header, payload } = decode(value)
      await super.putWill({ id: header.clientId } as Client, { ...header, payload } as unknown as Will)
    }
    for await (const [, value] of this.#journal.read(QUEUED)) {
      const { header, payload } = decode(value)
      const { client, sequence, topic, qos } = header as { client: string; sequence: number; topic: string; qos: 1 | 2 }
      this.queue(client).add({ sequence, topic, payload, qos, sent: true })
      this.#sequence = Math.max(this.#sequence, sequence)
    }
  }

  /** Queue of a session, made at its first use. */
  queue(client: string): SessionQueue {
    let queue = this.#queues.get(client)
    if (queue === undefined) {
      queue = new SessionQueue(this.#limits)
      this.#queues.set(client, queue)
    }
    return queue
  }

  /** Messages waiting or dropped, by client id. */
  queues(): ReadonlyMap<string, SessionQueue> {
    return this.#queues
  }

  /** Queues a message with QoS 1 or 2 for every session that subscribes to it. Resolves when it is on disk and may be acknowledged. */
  async accept(client: Client | null, packet: PublishPacket): Promise<void> {
    if (packet.qos === 2 && client !== null && (await this.#isKnown(client, packet))) return
    const payload = Buffer.from(packet.payload)
    // The subscriptions come from memory; awaiting them would let a later message overtake this one only if it did I/O.
    const subscriptions = await this.subscriptionsByTopic(packet.topic)
    const wake = new Set<SessionQueue>()
    for (const { clientId, qos } of subscriptions) {
      const queue = this.queue(clientId)
      const lower = Math.min(qos ?? 0, packet.qos)
      if (lower === 0) continue
      if (!queue.hasRoom(payload.length + packet.topic.length)) {
        queue.dropped += 1
        continue
      }
      const message: QueuedMessage = { sequence: ++this.#sequence, topic: packet.topic, payload, qos: lower as 1 | 2 }
      queue.add(message)
      wake.add(queue)
      const { sequence, topic } = message
      this.#journal.put(queuedKey(clientId, sequence), encode({ client: clientId, sequence, topic, qos: lower }, payload))
    }
    if (packet.retain) this.#journalRetained(packet)
    for (const queue of wake) queue.pump()
    await this.#journal.commit()
  }

  override async addSubscriptions(client: Client, subscriptions: Subscription[]): Promise<void> {
    await super.addSubscriptions(client, subscriptions)
    for (const subscription of subscriptions) {
      this.#journal.put(subscriptionKey(client.id, subscription.topic), encode({ ...subscription, client: client.id }, ''))
    }
    await this.#journal.commit()
  }

  override async removeSubscriptions(client: Client, topics: string[]): Promise<void> {
    await super.removeSubscriptions(client, topics)
    for (const topic of topics) this.#journal.del(subscriptionKey(client.id, topic))
    await this.#journal.commit()
  }

  /** A clean session begins: nothing of the one before remains. */
  override async cleanSubscriptions(client: Client): Promise<void> {
    for (const { topic } of await this.subscriptionsByClient(client)) this.#journal.del(subscriptionKey(client.id, topic))
    await super.cleanSubscriptions(client)
    for (const sequence of this.#queues.get(client.id)?.sequences() ?? []) this.#journal.del(queuedKey(client.id, sequence))
    this.#queues.delete(client.id)
    await this.#journal.commit()
  }

  override async storeRetained(packet: Packet): Promise<void> {
    await super.storeRetained(packet)
    this.#journalRetained(packet as unknown as PublishPacket)
    await this.#journal.commit()
  }

  override async putWill(client: Client, packet: Will): Promise<void> {
    await super.putWill(client, packet)
    const { payload, ...header } = packet as unknown as PublishPacket
    this.#journal.put(`${WILL}${encodeURIComponent(client.id)}`, encode(header, payload))
    await this.#journal.commit()
  }

  override async delWill(client: Client): Promise<Will | undefined> {
    this.#journal.del(`${WILL}${encodeURIComponent(client.id)}`)
    await this.#journal.commit()
    return super.delWill(client)
  }

  /** Done by `accept`, before the PUBACK. */
  override async outgoingEnqueueCombi(): Promise<void> {}

  /** aedes calls it for a PUBREC of a QoS 2 message only: all other sending is the queue's. */
  override async outgoingUpdate(client: Client, packet: Packet): Promise<void> {
    const { messageId } = packet as unknown as { messageId?: number }
    if (messageId !== undefined) this.queue(client.id).received(messageId)
  }

  override async outgoingClearMessageId(client: Client, packet: Packet): Promise<Packet> {
    const { messageId } = packet as unknown as { messageId?: number }
    const queue = this.#queues.get(client.id)
    const message = messageId === undefined ? undefined : queue?.acknowledge(messageId)
    if (message !== undefined) {
      this.#journal.del(queuedKey(client.id, message.sequence))
      // Not awaited: a deletion that a crash takes back is a message sent twice, which QoS 1 allows.
      void this.#journal.commit()
      queue?.pump()
    }
    return message as unknown as Packet
  }

  /** aedes would send the backlog itself; SessionQueue.attach does. */
  override outgoingStream(): Readable {
    return Readable.from([])
  }

  override async destroy(): Promise<void> {
    await super.destroy()
    await this.#journal.close()
  }

  #isKnown(client: Client, packet: PublishPacket): Promise<boolean> {
    return this.incomingGetPacket(client, packet as unknown as Packet).then(
      () => true,
      () => false,
    )
  }

  #journalRetained(packet: PublishPacket): void {
    const key = `${RETAINED}${encodeURIComponent(packet.topic)}`
    if (packet.payload.length === 0) this.#journal.del(key)
    else this.#journal.put(key, encode({ cmd: 'publish', topic: packet.topic, qos: packet.qos, retain: true }, packet.payload))
  }
}
