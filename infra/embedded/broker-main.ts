// MQTT 3.1.1 broker of `npm start` and of the tests, a process of its own. Its settings come from the environment (see broker.ts).
import { createHash, timingSafeEqual } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Aedes, type AuthenticateError, type Client } from 'aedes'
import { Journal } from './broker/journal.ts'
import { JournalPersistence } from './broker/persistence.ts'

const MIB = 1024 * 1024
const SOCKET_BUFFER_BYTES = 256 * 1024
const DROPS_REPORT_MS = 10_000
const BAD_USERNAME_OR_PASSWORD = 4

function positive(name: string, fallback: number): number {
  const text = process.env[name]
  if (text === undefined || text === '') return fallback
  if (!/^\d{1,15}$/.test(text) || Number(text) === 0)
    throw new Error(`${name} must be a positive whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}

const settings = {
  port: positive('KM0_BROKER_PORT', 1883),
  host: process.env.KM0_BROKER_HOST ?? '127.0.0.1',
  folder: process.env.KM0_BROKER_DIR ?? '',
  username: process.env.KM0_BROKER_USERNAME ?? '',
  password: process.env.KM0_BROKER_PASSWORD ?? '',
  /** Flush to the disk before each PUBACK: outlives a loss of power too, and is slower. */
  sync: process.env.KM0_BROKER_SYNC === '1',
  maxPacketBytes: positive('KM0_BROKER_MAX_PACKET_BYTES', 8 * MIB),
  maxConnections: positive('KM0_BROKER_MAX_CONNECTIONS', 20_000),
  limits: {
    maxQueuedMessages: positive('KM0_BROKER_MAX_QUEUED_MESSAGES', 1_000_000),
    maxQueuedBytes: positive('KM0_BROKER_MAX_QUEUED_BYTES', 256 * MIB),
    maxInflightMessages: Math.min(positive('KM0_BROKER_MAX_INFLIGHT_MESSAGES', 2_000), 60_000),
  },
}
if (settings.folder === '') throw new Error('KM0_BROKER_DIR must name the folder of the broker')

const persistence = new JournalPersistence(await Journal.open(settings.folder, settings.sync), settings.limits)
const broker = await Aedes.createBroker({
  persistence,
  authenticate: (_client, username, password, done) => {
    if (isAllowed(username, password)) return done(null, true)
    done(Object.assign(new Error('bad user name or password'), { returnCode: BAD_USERNAME_OR_PASSWORD }) as AuthenticateError, null)
  },
  authorizePublish: (client, packet, done) => {
    if (packet.topic.startsWith('$SYS/')) return done(new Error('$SYS topics are reserved'))
    if (packet.qos === 0) return done(null)
    persistence.accept(client, packet).then(() => done(null), fail)
  },
  // Sessions that outlive their connection are served by their queue, in order; a retained copy goes out at once.
  authorizeForward: (client, packet) => (client.clean || packet.qos === 0 || packet.retain ? packet : null),
})

/** Compares digests, so that neither length nor content of the secret shows in the time taken. */
function isAllowed(username: string | undefined, password: Buffer | undefined): boolean {
  if (settings.username === '' && settings.password === '') return true
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const userFits = timingSafeEqual(digest(username ?? ''), digest(settings.username))
  return timingSafeEqual(digest(password?.toString() ?? ''), digest(settings.password)) && userFits
}

function fail(error: unknown): never {
  console.error('broker: cannot go on', error)
  process.exit(1)
}

broker.on('clientReady', (client) => {
  if (!client.clean) persistence.queue(client.id).attach(client)
})
broker.on('clientDisconnect', (client) => persistence.queues().get(client.id)?.detach(client))
broker.on('clientError', (client, error) => console.error(`broker: client ${client.id}: ${error.message}`))
broker.on('connectionError', (_client, error) => console.error(`broker: connection: ${error.message}`))
// Its types leave this event out.
;(broker as EventEmitter).on('error', fail)

let dropsReported = 0
setInterval(() => {
  const dropped = [...persistence.queues().values()].reduce((sum, queue) => sum + queue.dropped, 0)
  if (dropped > dropsReported) console.error(`broker: ${dropped - dropsReported} messages dropped, a session's queue is full`)
  dropsReported = dropped
}, DROPS_REPORT_MS).unref()

const sockets = new Set<Socket>()
const server = createServer({ noDelay: true, highWaterMark: SOCKET_BUFFER_BYTES }, (socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  const client = broker.handle(socket) as Client & { _parser: { packet: { length: number } } }
  // After aedes's own listener: the parser knows the announced length before it has the packet.
  socket.on('readable', () => {
    const announced = client._parser?.packet?.length ?? 0
    if (announced <= settings.maxPacketBytes) return
    console.error(`broker: client ${client.id}: packet of ${announced} bytes, ${settings.maxPacketBytes} are allowed; hung up`)
    socket.destroy()
  })
})
server.maxConnections = settings.maxConnections
server.on('error', fail)
server.listen(settings.port, settings.host, () => console.log(`broker: listening on ${settings.host}:${settings.port}`))

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close()
    broker.close(() => {
      for (const socket of sockets) socket.destroy()
      persistence.destroy().then(() => process.exit(0), fail)
    })
  })
}
