// Publishers at QoS 1 on plain sockets, which take little CPU from the bridge that is measured. A process of its own: gets its order by IPC,
// tells `{ acked }` twice a second and `{ done }` at the end. What was not acknowledged is sent again, marked as a duplicate, after a reconnect.
import { connect, type Socket } from 'node:net'
import { positionTopic } from '@km0/contracts'

export interface LoadOrder {
  readonly port: number
  readonly messages: number
  /** Messages a second over all publishers; 0: as fast as acknowledgements allow. */
  readonly perSecond: number
  readonly publishers: number
  readonly inFlight: number
  readonly vans: number
  /** Van names begin with it. */
  readonly prefix: string
}

export interface LoadResult {
  readonly acked: number
  readonly resent: number
  readonly firstMs: number
}

const RECONNECT_AFTER_MS = 200
const PING_EVERY_MS = 20_000
const PACE_EVERY_MS = 2
const TELL_EVERY_MS = 500
const MESSAGE_BYTES = 90
const [CONNECT, CONNACK, PUBLISH_QOS_1, PUBACK, PINGREQ] = [0x10, 0x20, 0x32, 0x40, 0xc0]
const DUPLICATE = 8

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

/** A packet with its remaining length in MQTT's seven-bit groups (MQTT 3.1.1, section 2.2.3). */
function packet(head: number, body: Buffer): Buffer {
  const length: number[] = []
  let rest = body.length
  do {
    length.push((rest & 127) | (rest > 127 ? 128 : 0))
    rest >>= 7
  } while (rest > 0)
  return Buffer.concat([Buffer.from([head, ...length]), body])
}

/** Numbers each van's messages, for all publishers. */
class Messages {
  readonly #order: LoadOrder
  readonly #numberOf = new Map<string, number>()
  made = 0
  acked = 0
  resent = 0
  firstMs = 0

  constructor(order: LoadOrder) {
    this.#order = order
  }

  get left(): boolean {
    return this.made < this.#order.messages
  }

  next(vanIndex: number, packetId: number): Buffer {
    const van = `${this.#order.prefix}${(vanIndex % this.#order.vans) + 1}`
    const n = (this.#numberOf.get(van) ?? 0) + 1
    this.#numberOf.set(van, n)
    this.made += 1
    const nowMs = Date.now()
    this.firstMs ||= nowMs
    const body = `{"repartidor":"${van}","lat":41.9794${n % 10},"lon":2.8214${n % 10},"data_ms":${nowMs},"n":${n}}`.padEnd(MESSAGE_BYTES)
    return packet(PUBLISH_QOS_1, Buffer.concat([text(positionTopic(van)), Buffer.from([packetId >> 8, packetId & 255]), Buffer.from(body)]))
  }
}

class Publisher {
  readonly #order: LoadOrder
  readonly #messages: Messages
  readonly #index: number
  readonly #unacked = new Map<number, Buffer>()
  #socket!: Socket
  #pending: Buffer = Buffer.alloc(0)
  #packetId = 0
  #van: number
  up = false

  constructor(order: LoadOrder, messages: Messages, index: number) {
    this.#order = order
    this.#messages = messages
    this.#index = index
    this.#van = index
    this.#connect()
  }

  /** Sends one more; false when it may not. */
  send(): boolean {
    if (!this.up || this.#unacked.size >= this.#order.inFlight || !this.#messages.left) return false
    do this.#packetId = (this.#packetId % 65_535) + 1
    while (this.#unacked.has(this.#packetId))
    const bytes = this.#messages.next(this.#van, this.#packetId)
    // A van has one publisher, so that its messages stay in order.
    this.#van += this.#order.publishers
    this.#unacked.set(this.#packetId, bytes)
    this.#socket.write(bytes)
    return true
  }

  fill(): void {
    this.#socket.cork()
    while (this.send());
    this.#socket.uncork()
  }

  ping(): void {
    if (this.up) this.#socket.write(packet(PINGREQ, Buffer.alloc(0)))
  }

  #connect(): void {
    const socket = connect(this.#order.port, '127.0.0.1')
    this.#socket = socket
    this.#pending = Buffer.alloc(0)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.up = false
      setTimeout(() => this.#connect(), RECONNECT_AFTER_MS)
    })
    const client = text(`carrega-${process.pid}-${this.#index}`)
    socket.on('connect', () => socket.write(packet(CONNECT, Buffer.concat([text('MQTT'), Buffer.from([4, 0, 0, 60]), client]))))
    socket.on('data', (chunk) => this.#read(chunk))
  }

  /** Packets that a broker sends to a publisher are shorter than 128 bytes: one byte of length. */
  #read(chunk: Buffer): void {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    let at = 0
    for (; bytes.length - at >= 2 && bytes.length - at >= 2 + bytes.readUInt8(at + 1); at += 2 + bytes.readUInt8(at + 1)) {
      const kind = bytes.readUInt8(at)
      if (kind === PUBACK && this.#unacked.delete(bytes.readUInt16BE(at + 2))) this.#messages.acked += 1
      if (kind === CONNACK) this.#resume()
    }
    this.#pending = bytes.subarray(at)
    if (this.#order.perSecond === 0) this.fill()
  }

  #resume(): void {
    this.up = true
    for (const bytes of this.#unacked.values()) {
      bytes.writeUInt8(bytes.readUInt8(0) | DUPLICATE, 0)
      this.#socket.write(bytes)
      this.#messages.resent += 1
    }
  }
}

/** Keeps to the order's pace: what is due by now is sent, whoever of the publishers has room. */
function pace({ perSecond, messages: count }: LoadOrder, publishers: readonly Publisher[]): void {
  let startMs = 0
  let sent = 0
  let turn = 0
  setInterval(() => {
    if (startMs === 0 && !publishers.every(({ up }) => up)) return
    startMs ||= performance.now()
    const due = Math.min(count, ((performance.now() - startMs) * perSecond) / 1_000)
    while (sent < due) {
      let found = false
      for (let tries = 0; tries < publishers.length && !found; tries += 1) found = publishers[turn++ % publishers.length]?.send() ?? false
      if (!found) return
      sent += 1
    }
  }, PACE_EVERY_MS)
}

process.once('message', (order: LoadOrder) => {
  const messages = new Messages(order)
  const publishers = Array.from({ length: order.publishers }, (_, index) => new Publisher(order, messages, index))
  if (order.perSecond > 0) pace(order, publishers)
  setInterval(() => {
    for (const publisher of publishers) publisher.ping()
  }, PING_EVERY_MS)
  setInterval(() => {
    process.send?.({ acked: messages.acked })
    if (messages.acked < order.messages) return
    const done: LoadResult = { acked: messages.acked, resent: messages.resent, firstMs: messages.firstMs }
    process.send?.({ done }, () => process.exit(0))
  }, TELL_EVERY_MS)
})
