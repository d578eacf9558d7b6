import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startKafka } from '@km0/infra/embedded/kafka'
import { freePort, isPortFree } from '@km0/infra/embedded/ports'
import { startPostgres } from '@km0/infra/embedded/postgres'
import { startRedis } from '@km0/infra/embedded/redis'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'km0-embedded-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Something that is not ours listens on a port; the service asked to take it must take another. */
async function occupied<Result>(use: (port: number) => Promise<Result>): Promise<Result> {
  const server = createServer()
  // Below the range from which the system takes ports of outgoing connections: a service that restarts must find its own free.
  const wanted = await freePort(20_000 + Math.floor(Math.random() * 10_000))
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve))
  try {
    return await use((server.address() as { port: number }).port)
  } finally {
    server.close()
  }
}

describe('kafka', () => {
  const client = (brokers: string) => new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING })

  async function produce(brokers: string, values: readonly string[]): Promise<void> {
    const producer = client(brokers).producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    await producer.send({ topic: 'prova', acks: -1, messages: values.map((value) => ({ value })) })
    await producer.disconnect()
  }

  async function endOffset(brokers: string): Promise<number> {
    const admin = client(brokers).admin()
    await admin.connect()
    const [partition] = await admin.fetchTopicOffsets('prova')
    await admin.disconnect()
    return Number(partition?.high)
  }

  it('takes the next port when its own is taken, and keeps its log over kill -9 and over a stop', async () => {
    const kafka = await occupied(async (port) => {
      const started = await startKafka({ dataDir: join(folder, 'kafka'), port, heapMib: 384 })
      expect(started.port).toBeGreaterThan(port)
      return started
    })
    const admin = client(kafka.brokers).admin()
    await admin.connect()
    await admin.createTopics({ topics: [{ topic: 'prova', numPartitions: 1 }], waitForLeaders: true })
    await admin.disconnect()
    await produce(kafka.brokers, ['un', 'dos'])
    await kafka.kill9()
    const second = await kafka.restart()
    expect(second.brokers).toBe(kafka.brokers)
    expect(await endOffset(second.brokers)).toBe(2)
    await produce(second.brokers, ['tres'])
    await second.stop()
    expect(await isPortFree(second.port)).toBe(true)
    const third = await second.restart()
    expect(await endOffset(third.brokers)).toBe(3)
    await third.stop()
  })
})

describe('postgres', () => {
  async function query(url: string, text: string): Promise<readonly unknown[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const result = await client.query(text)
    await client.end()
    return result.rows
  }

  it('takes the next port when its own is taken, and keeps committed rows over kill -9 and over a stop', async () => {
    const postgres = await occupied(async (port) => {
      const started = await startPostgres({ dataDir: join(folder, 'postgres'), port })
      expect(started.port).toBeGreaterThan(port)
      return started
    })
    await query(postgres.url, 'CREATE TABLE prova (n int)')
    await query(postgres.url, 'INSERT INTO prova VALUES (1)')
    await postgres.kill9()
    const second = await postgres.restart()
    await query(second.url, 'INSERT INTO prova VALUES (2)')
    await second.stop()
    expect(await isPortFree(second.port)).toBe(true)
    const third = await second.restart()
    expect(await query(third.url, 'SELECT n FROM prova ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }])
    await third.stop()
  })

  it('refuses a connection without the password', async () => {
    const postgres = await startPostgres({ dataDir: join(folder, 'postgres-password'), fsync: false })
    const withoutPassword = postgres.url.replace(/:[^:@]*@/, ':wrong@')
    await expect(query(withoutPassword, 'SELECT 1')).rejects.toThrow(/password/)
    await postgres.stop()
  })
})

// Containers often run as root without user namespaces; other users start it as themselves.
describe.skipIf(process.getuid?.() !== 0)('postgres as nobody, for root without user namespaces', () => {
  const shared = join(tmpdir(), 'km0-postgres')
  const dataFolders = () => (existsSync(shared) ? readdirSync(shared).filter((name) => name.startsWith('data-')) : [])
  const already = new Set(dataFolders())
  afterAll(() => {
    for (const name of dataFolders()) if (!already.has(name)) rmSync(join(shared, name), { recursive: true })
  })

  it('begins anew when its data folder was deleted, although its rows lie elsewhere', async () => {
    const before = process.env.KM0_POSTGRES_NOBODY
    process.env.KM0_POSTGRES_NOBODY = '1'
    try {
      const dataDir = join(folder, 'postgres-nobody')
      const first = await startPostgres({ dataDir, fsync: false })
      await first.stop()
      const again = await startPostgres({ dataDir, fsync: false })
      expect(again.url.replace(/:\d+\//, '/')).toBe(first.url.replace(/:\d+\//, '/'))
      await again.stop()
      rmSync(dataDir, { recursive: true })
      const reset = await startPostgres({ dataDir, fsync: false })
      await reset.stop()
      expect(reset.url).not.toBe(first.url)
    } finally {
      if (before === undefined) delete process.env.KM0_POSTGRES_NOBODY
      else process.env.KM0_POSTGRES_NOBODY = before
    }
  })
})

describe('redis', () => {
  /** One command in Redis's plain-text form; its answer is one line. */
  function say(port: number, command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(`${command}\r\n`))
      socket.once('error', reject)
      socket.once('data', (answer) => {
        socket.destroy()
        resolve(answer.toString().trim())
      })
    })
  }

  it('takes the next port when its own is taken, and keeps what it was told over a stop and, a second later, over kill -9', async () => {
    const redis = await occupied(async (port) => {
      const started = await startRedis({ dataDir: join(folder, 'redis'), port })
      expect(started.port).toBeGreaterThan(port)
      return started
    })
    expect(await say(redis.port, 'SET a x')).toBe('+OK')
    await sleep(1_200)
    await redis.kill9()
    const second = await redis.restart()
    expect(await say(second.port, 'SET b x')).toBe('+OK')
    await second.stop()
    expect(await isPortFree(second.port)).toBe(true)
    const third = await second.restart()
    const keys = await Promise.all(['a', 'b', 'c'].map((key) => say(third.port, `EXISTS ${key}`)))
    expect(keys).toEqual([':1', ':1', ':0'])
    await third.stop()
  })
})

it('says what went wrong, with the log, when a service cannot start', async () => {
  const dataDir = join(folder, 'redis-broken')
  const redis = await startRedis({ dataDir })
  await redis.stop()
  appendFileSync(join(dataDir, 'appendonly.aof'), 'this is no command\r\n')
  await expect(startRedis({ dataDir })).rejects.toThrow(/Redis ended at its start[\s\S]*Bad file format/)
})
