import { AssignerProtocol, type Consumer, Kafka, logLevel, type PartitionAssigner } from 'kafkajs'
import { kafkaAddress } from './address.ts'
import { typedError } from './log-errors.ts'

export interface LeaseOptions {
  readonly brokers: readonly string[]
  readonly clientId: string
  /** Name of the lease: everybody who asks for it is a member of this group. */
  readonly groupId: string
  /** A topic with one partition, to which nobody writes. */
  readonly topic: string
  /** The coordinator gives the lease away when it has not heard from its holder for so long. Default 6 s, the least that brokers allow. */
  readonly sessionTimeoutMs?: number
  /** Also how soon another member learns that it has got the lease. Default 500 ms. */
  readonly heartbeatIntervalMs?: number
  /** The lease is ours. Also called when it is given to us again. */
  readonly onHeld: () => void
  /** The lease is certainly not ours: another member has it, or may have it. Called at each such answer. */
  readonly onLost: () => void
  /** Trouble that is mended by trying again. */
  readonly onTrouble: (error: Error) => void
}

/**
 * `held`: ours, and nobody else can have it before `held` is over. `unsure`: it was ours, and for too long nothing was heard; it may be
 * given away at any time, or be ours still. `no`: not ours.
 */
export type LeaseState = 'held' | 'unsure' | 'no'

export interface Lease {
  /** By the clock at the time of the call, so also right after a stall of this process. */
  state(): LeaseState
  /** Machine time of the group's last answer; null before the first. */
  lastContactMs(): number | null
  /** Gives the lease back: another member gets it at once. */
  stop(): Promise<void>
}

/** Part of the session after which the holder no longer counts on it: travel of a request, and what lies between a look and a write. */
const SAFETY_SHARE = 0.25
const RETRY_MS = 1_000

/** Asks for a lease for as long as the process lives. Returns at once; the log may be away and is tried for ever. */
export function openLease(options: LeaseOptions): Lease {
  const lease = new GroupLease(options)
  lease.start()
  return lease
}

/**
 * A lease as membership of a Kafka group: whoever has the only partition of the topic holds it. The coordinator gives it away when the
 * session of the holder is over, and that is counted from the last heartbeat that it got. So the holder counts from when it *sent* the
 * last heartbeat that was answered: less than the coordinator does, also where the process stood still between sending and answer.
 * At a rebalance the holder keeps it: each member tells whether it holds it, and the leader of the group goes by that.
 */
class GroupLease implements Lease {
  readonly #kafka: Kafka
  readonly #options: LeaseOptions
  readonly #sessionMs: number
  #consumer: Consumer | null = null
  #mine = false
  #stopped = false
  #retry: NodeJS.Timeout | undefined
  /** When the requests were sent that were answered last. */
  #heartbeatSentMs = 0
  #syncSentMs = 0
  #contactMs: number | null = null

  constructor(options: LeaseOptions) {
    // A client of its own: its connections wait for nobody else's requests.
    this.#kafka = new Kafka({
      clientId: options.clientId,
      ...kafkaAddress(options.brokers),
      connectionTimeout: 3_000,
      requestTimeout: 15_000,
      logLevel: logLevel.NOTHING,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
    })
    this.#options = options
    this.#sessionMs = options.sessionTimeoutMs ?? 6_000
  }

  start(): void {
    const consumer = this.#newConsumer()
    this.#consumer = consumer
    this.#join(consumer).catch((error: unknown) => this.#again(consumer, error))
  }

  state(): LeaseState {
    if (!this.#mine) return 'no'
    return Date.now() - (this.#contactMs ?? 0) < this.#sessionMs * (1 - SAFETY_SHARE) ? 'held' : 'unsure'
  }

  lastContactMs(): number | null {
    return this.#contactMs
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#mine = false
    clearTimeout(this.#retry)
    await this.#consumer?.disconnect().catch(() => undefined)
  }

  #newConsumer(): Consumer {
    return this.#kafka.consumer({
      groupId: this.#options.groupId,
      sessionTimeout: this.#sessionMs,
      heartbeatInterval: this.#options.heartbeatIntervalMs ?? 500,
      rebalanceTimeout: this.#sessionMs,
      maxWaitTimeInMs: 250,
      allowAutoTopicCreation: false,
      partitionAssigners: [holderFirst(() => this.state() === 'held')],
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 10 },
    })
  }

  async #join(consumer: Consumer): Promise<void> {
    const { events } = consumer
    consumer.on(events.REQUEST, ({ payload }) => {
      if (payload.apiName === 'Heartbeat') this.#heartbeatSentMs = payload.sentAt
      if (payload.apiName === 'SyncGroup') this.#syncSentMs = payload.sentAt
    })
    consumer.on(events.HEARTBEAT, () => {
      if (this.#consumer === consumer) this.#contactMs = this.#heartbeatSentMs
    })
    consumer.on(events.GROUP_JOIN, ({ payload }) => {
      if (this.#consumer === consumer) this.#onJoin((payload.memberAssignment[this.#options.topic] ?? []).length > 0)
    })
    consumer.on(events.CRASH, ({ payload }) => {
      if (!payload.restart) this.#again(consumer, payload.error)
    })
    await consumer.connect()
    await consumer.subscribe({ topics: [this.#options.topic] })
    await consumer.run({ autoCommit: false, eachBatch: async () => undefined })
  }

  #onJoin(mine: boolean): void {
    if (this.#stopped) return
    this.#contactMs = this.#syncSentMs
    this.#mine = mine
    if (mine) this.#options.onHeld()
    else this.#options.onLost()
  }

  /** A consumer that has ended is replaced. What it held is `unsure` by then, and becomes certain with the next answer. */
  #again(consumer: Consumer, error: unknown): void {
    if (this.#stopped || this.#consumer !== consumer) return
    this.#options.onTrouble(typedError(error))
    this.#consumer = null
    consumer.disconnect().catch(() => undefined)
    this.#retry = setTimeout(() => this.start(), RETRY_MS)
  }
}

const HOLDER = Buffer.from('holder')
const NO_HOLDER = Buffer.alloc(0)
const VERSION = 1

/** Gives every partition to one member: to the one that says it holds the lease, else to the first by name. */
function holderFirst(isHolder: () => boolean): PartitionAssigner {
  const { MemberMetadata, MemberAssignment } = AssignerProtocol
  return ({ cluster }) => ({
    name: 'holder-first',
    version: VERSION,
    protocol: ({ topics }) => ({
      name: 'holder-first',
      metadata: MemberMetadata.encode({ version: VERSION, topics, userData: isHolder() ? HOLDER : NO_HOLDER }),
    }),
    assign: async ({ members, topics }) => {
      const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
      const holder = sorted.find(({ memberMetadata }) => MemberMetadata.decode(memberMetadata)?.userData.equals(HOLDER)) ?? sorted[0]
      if (holder === undefined) return []
      const partitionsOf = (topic: string) => cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
      const assignment = Object.fromEntries(topics.map((topic) => [topic, partitionsOf(topic)]))
      return [
        { memberId: holder.memberId, memberAssignment: MemberAssignment.encode({ version: VERSION, assignment, userData: NO_HOLDER }) },
      ]
    },
  })
}
