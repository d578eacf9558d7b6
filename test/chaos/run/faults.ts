import { setTimeout as sleep } from 'node:timers/promises'
import { positionTopic, TOPICS } from '@km0/contracts'
import { Random, seedOf } from '@km0/fleet/random'
import { openLog } from '@km0/transport'
import { openMqttPublisher } from '@km0/transport/mqtt-publisher'
import type { ChaosPlatform } from './platform.ts'
import type { Card } from './schedule.ts'

const REDELIVERED = 150
const PUBLISHED_WITHIN_MS = 30_000
const AWAY_MS = 90_000
const ASK_WITHIN_MS = 3_000

/** Lets a fault happen. Resolves with the instant from which recovery counts: of the kill, or of the end of what lasts. */
export async function inflict(platform: ChaosPlatform, card: Card, number: number, seed: number): Promise<number> {
  const { fault, lastsS } = card
  switch (fault.kind) {
    case 'kill':
    case 'stop': {
      const pid = await platform.pidOf(fault.victim)
      const killMs = Date.now()
      if (fault.kind === 'kill') await platform.signal(fault.victim, 'SIGKILL')
      else process.kill(pid, 'SIGTERM')
      return killMs
    }
    case 'pause':
      await platform.signal(fault.victim, 'SIGSTOP')
      await sleep(lastsS * 1000)
      await platform.signal(fault.victim, 'SIGCONT')
      return Date.now()
    case 'refuse':
    case 'silence':
      platform.wires[fault.wire][fault.kind]()
      await sleep(lastsS * 1000)
      platform.wires[fault.wire].mend()
      return Date.now()
    case 'full-disk':
      platform.disk.fill()
      try {
        await Promise.all([sleep(lastsS * 1000), platform.disk.kind === 'none' ? null : untilNoticed(platform)])
      } finally {
        platform.disk.free()
      }
      return Date.now()
    case 'redelivery':
      await untilDone(() => redeliver(platform, new Random(seed, number, seedOf('redelivery'))))
      return Date.now()
  }
}

/** The disk stays full until the positions job has said that it cannot store a checkpoint: a slow machine, or another fault, may keep it from trying. */
async function untilNoticed(platform: ChaosPlatform): Promise<void> {
  const url = new URL('/health', platform.healthUrlOf('stream-positions'))
  await untilDone(async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) })
    const { parts } = (await response.json()) as { parts: Record<string, { status: string; detail?: string } | undefined> }
    if (parts.checkpoints?.status !== 'degraded') throw new Error('the disk is full, and the health of stream-positions does not say so')
  })
}

/** Tries again while Kafka is away: the fault before may still be felt. */
async function untilDone(attempt: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + AWAY_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await sleep(1_000)
    }
  }
}

/** Publishes the newest positions of the log again, each twice, in an order of their own. */
async function redeliver(platform: ChaosPlatform, random: Random): Promise<void> {
  const { kafkaBrokers, mqttUrl } = platform.addresses
  const log = openLog({ brokers: kafkaBrokers.split(','), clientId: 'km0-chaos' })
  const topic = TOPICS.positions.name
  const ends = await log.endOffsets(topic)
  const from = new Map([...ends].map(([partition, end]) => [partition, Math.max(0, end - REDELIVERED)]))
  const messages: { readonly topic: string; readonly payload: Buffer; readonly order: number }[] = []
  for await (const { records } of log.readTopic({ topic, from, until: ends })) {
    for (const { key, value } of records) {
      if (key === null || value === null) continue
      for (let copy = 0; copy < 2; copy += 1) messages.push({ topic: positionTopic(key), payload: value, order: random.unit() })
    }
  }
  messages.sort((a, b) => a.order - b.order)
  const publisher = openMqttPublisher({ url: mqttUrl, onError: () => undefined })
  try {
    const published = Promise.all(messages.map((message) => publisher.publish(message.topic, message.payload)))
    await Promise.race([published, sleep(PUBLISHED_WITHIN_MS)])
  } finally {
    await publisher.close(true)
  }
}
