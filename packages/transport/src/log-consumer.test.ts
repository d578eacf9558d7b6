import type { EachBatchPayload, Kafka } from 'kafkajs'
import { expect, it } from 'vitest'
import { consumePartitions } from './log-consumer.ts'

const SESSION_MS = 30

/** A client library that gives one batch when told to; `answers`: whether the group answers heartbeats. */
function clientOf(answers: boolean) {
  const listeners = new Map<string, (event: { payload: unknown }) => void>()
  let eachBatch: (payload: EachBatchPayload) => Promise<void> = async () => undefined
  const names = ['GROUP_JOIN', 'HEARTBEAT', 'REBALANCING', 'END_BATCH_PROCESS', 'CRASH']
  const consumer = {
    events: Object.fromEntries(names.map((name) => [name, name])),
    on: (name: string, listener: (event: { payload: unknown }) => void) => listeners.set(name, listener),
    connect: async () => undefined,
    subscribe: async () => undefined,
    run: async (options: { eachBatch: typeof eachBatch }) => {
      eachBatch = options.eachBatch
    },
    disconnect: async () => undefined,
  }
  const message = { offset: '7', key: null, value: Buffer.from('{}'), timestamp: '1', headers: {} }
  const payload = {
    batch: { topic: 't', partition: 0, messages: [message], highWatermark: '8', lastOffset: () => '7' },
    heartbeat: async () => {
      if (answers) listeners.get('HEARTBEAT')?.({ payload: {} })
    },
    isStale: () => false,
    resolveOffset: () => undefined,
    commitOffsetsIfNecessary: async () => undefined,
  }
  return {
    kafka: { consumer: () => consumer } as unknown as Kafka,
    join: () => listeners.get('GROUP_JOIN')?.({ payload: { memberAssignment: { t: [0] } } }),
    batch: () => eachBatch(payload as unknown as EachBatchPayload),
  }
}

async function runWith(answers: boolean): Promise<{ readonly applied: number; readonly fatal: readonly string[] }> {
  const client = clientOf(answers)
  const fatal: string[] = []
  let applied = 0
  const consumer = await consumePartitions(client.kafka, {
    groupId: 'g',
    topics: ['t'],
    sessionTimeoutMs: SESSION_MS,
    onStart: async (_topic, _partition, firstOffset) => firstOffset,
    onSlice: async () => {
      applied += 1
      return true
    },
    onDrop: () => undefined,
    onFatal: (error) => void fatal.push(error.message),
  })
  client.join()
  // Longer than the session, and nothing heard.
  await new Promise((resolve) => setTimeout(resolve, 3 * SESSION_MS))
  await client.batch().catch(() => undefined)
  await consumer.stop()
  return { applied, fatal }
}

it('goes on after a pause that was longer than the session when the group still knows it', async () => {
  expect(await runWith(true)).toEqual({ applied: 1, fatal: [] })
})

it('ends when records come to somebody who is no member any more', async () => {
  const { applied, fatal } = await runWith(false)
  expect(applied).toBe(0)
  expect(fatal).toEqual([expect.stringContaining('no member any more')])
})
