import { join } from 'node:path'
import { HEADERS, TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, openLog } from '@km0/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { generatedLog } from '../chaos/generated-log.ts'
import { buildStream, StreamProcess, until, verify } from '../chaos/stream-process.ts'

// Positions jobs that join, leave, are killed and stand still for longer than their session, one event every few seconds, while the broker
// restarts in the middle. Rows must equal an offline replay; in transactions no result may stand in the log twice.

type Happening = 'join' | 'leave' | 'kill' | 'freeze' | 'thaw' | 'broker killed'
/** One, two and three instances; each happening waits for the partitions to be spread again or not, as they come. */
const HAPPENINGS: readonly Happening[] = [
  ...(['join', 'leave', 'join', 'join', 'kill', 'join', 'freeze', 'join', 'thaw'] as const),
  ...(['broker killed', 'leave', 'join', 'freeze', 'kill', 'thaw', 'join', 'leave', 'leave'] as const),
]
const PAUSE_MS = 3_000
/** Longer than the session of the group. */
const FROZEN_MS = 9_000

const running: StreamProcess[] = []
let frozen: StreamProcess[] = []
let services: TestServices<{ kafka: true; postgres: true }> | undefined
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill9()))
  frozen = []
  await services?.stop()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function happen(what: Happening, environment: Record<string, string>): Promise<void> {
  const awake = running.filter((process) => !frozen.includes(process))
  if (what === 'join') running.push(await StreamProcess.start('positions', environment))
  const oldest = awake[0]
  if (what === 'broker killed') {
    await services?.kafka.kill9()
    await pause(PAUSE_MS)
    await services?.restart('kafka')
  }
  if (what === 'thaw') {
    await pause(FROZEN_MS)
    for (const process of frozen.splice(0)) process.thaw()
  }
  if (oldest === undefined) return
  if (what === 'freeze') {
    oldest.freeze()
    frozen.push(oldest)
  }
  if (what === 'leave' || what === 'kill') {
    running.splice(running.indexOf(oldest), 1)
    await (what === 'leave' ? oldest.stop() : oldest.kill9())
  }
}

/** Results of the panel by what makes them one: those that are there more than once. */
async function doubled(log: Log): Promise<string[]> {
  const seen = new Set<string>()
  const twice: string[] = []
  for await (const { records } of log.readTopic({ topic: TOPICS.panel.name })) {
    for (const { key, headers } of records) {
      const place = `${key} ${headers[HEADERS.sourcePartition]} ${headers[HEADERS.sourceOffset]}`
      if (seen.has(place)) twice.push(place)
      seen.add(place)
    }
  }
  return twice
}

describe.each(['idempotent', 'transactional'])('instances that come and go every few seconds (%s)', (delivery) => {
  it('leave the same rows as one that was never interrupted', async () => {
    buildStream()
    services = await startServices({ kafka: true, postgres: true })
    const log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
    await log.ensureTopics(Object.values(TOPICS))
    const environment = {
      ...services.environment,
      KM0_DELIVERY: delivery,
      KM0_CHECKPOINT_DIR: join(services.dataDir, 'checkpoints'),
      KM0_CHECKPOINT_INTERVAL_MS: '500',
      KM0_STREAM_SLICE_RECORDS: '200',
    }
    const { partitions } = TOPICS.positions
    const endMs = Math.floor(Date.now() / 60_000) * 60_000
    const all = generatedLog({ seed: 23, vans: 60, minutes: 120, endMs, partitions })
    const producer = await log.openProducer()
    const serving = await StreamProcess.start('serving', environment)
    running.push(await StreamProcess.start('positions', environment))
    const share = Math.ceil(all.length / HAPPENINGS.length)
    for (const [index, what] of HAPPENINGS.entries()) {
      await producer.send(all.slice(index * share, (index + 1) * share))
      await happen(what, environment)
      await pause(PAUSE_MS)
    }
    await producer.close()
    const last = running.at(-1) ?? (await StreamProcess.start('positions', environment))
    if (!running.includes(last)) running.push(last)
    await until('the group is whole again', async () => (await last.health()).status !== 'down', 60_000)
    const { code, output } = await verify(environment, 120)
    console.log(delivery, output)
    expect(code, output).toBe(0)
    const twice = await doubled(log)
    console.log(`${delivery}: ${twice.length} results of the panel stand more than once in the log`)
    if (delivery === 'transactional') expect(twice).toEqual([])
    await serving.stop()
  }, 400_000)
})
