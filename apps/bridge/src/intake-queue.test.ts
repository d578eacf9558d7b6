import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IntakeQueue, type QueueItem } from './intake-queue.ts'
import { deliveryKey, MergeMemory } from './merge-memory.ts'

const LIMITS = { maxMessages: 3, maxBytes: 1_000, rememberedMessages: 2 }
const from = (acknowledge: () => boolean, connection = 1) => ({ connection, acknowledge })
const item = (key: string | null, acknowledge: () => boolean = () => true, bytes = 10): QueueItem => ({
  key,
  records: [{ topic: 't', key, value: key }],
  topic: 't',
  payload: Buffer.alloc(0),
  bytes,
  receivedAtMs: 0,
  acknowledgers: [from(acknowledge)],
})

describe('merge memory', () => {
  it('keeps the last ones only', () => {
    const memory = new MergeMemory(2)
    for (const key of ['a', 'b', 'b', 'c']) memory.add(key)
    expect(['a', 'b', 'c'].map((key) => memory.has(key))).toEqual([false, true, true])
    memory.add('d')
    expect(['b', 'c', 'd'].map((key) => memory.has(key))).toEqual([false, true, true])
    expect(memory.size).toBe(2)
  })

  it('can be switched off', () => {
    const memory = new MergeMemory(0)
    memory.add('a')
    expect([memory.has('a'), memory.size]).toEqual([false, 0])
  })

  it('tells messages apart by topic, payload and retained', () => {
    const keys = [
      deliveryKey('a', Buffer.from('b'), false),
      deliveryKey('a', Buffer.from('b'), true),
      deliveryKey('a', Buffer.from('c'), false),
      deliveryKey('ab', Buffer.from(''), false),
      deliveryKey('a', Buffer.from([0xff]), false),
      deliveryKey('a', Buffer.from([0xfe]), false),
      deliveryKey('a', Buffer.alloc(5_000, 1), false),
      deliveryKey('a', Buffer.alloc(5_000, 2), false),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    expect(deliveryKey('a', Buffer.alloc(5_000, 1), false)).toBe(keys[6])
  })
})

describe('the queue of what is not yet in Kafka', () => {
  it('gives items in order, one batch at a time, and the broker is told when it is settled', () => {
    const queue = new IntakeQueue(LIMITS)
    const told: string[] = []
    for (const key of ['a', 'b', 'c']) queue.push(item(key, () => told.push(key) > 0))
    expect(queue.takeBatch(2, 1_000).map(({ key }) => key)).toEqual(['a', 'b'])
    expect(() => queue.takeBatch(2, 1_000)).toThrow('in flight')
    expect(told).toEqual([])
    expect(queue.settle()).toBe(2)
    expect(told).toEqual(['a', 'b'])
    expect(queue.takeBatch(2, 1_000).map(({ key }) => key)).toEqual(['c'])
  })

  it('cuts batches by bytes too, but takes a single item of any size', () => {
    const queue = new IntakeQueue(LIMITS)
    queue.push(item('big', undefined, 5_000))
    queue.push(item('small'))
    expect(queue.takeBatch(100, 1_000)).toHaveLength(1)
    queue.settle()
    expect(queue.takeBatch(100, 1_000)).toHaveLength(1)
  })

  it('is full by messages or by bytes, and has room again when Kafka has them', () => {
    const queue = new IntakeQueue(LIMITS)
    for (const key of ['a', 'b', 'c']) queue.push(item(key))
    expect(queue.full).toBe(true)
    queue.takeBatch(1, 1_000)
    expect(queue.full).toBe(true)
    queue.settle()
    expect(queue.full).toBe(false)
    queue.push(item('big', undefined, 990))
    expect(queue.full).toBe(true)
  })

  it('merges a redelivery with its twin, waiting or in flight, and tells the broker for each', () => {
    const queue = new IntakeQueue(LIMITS)
    let told = 0
    const tell = () => {
      told += 1
      return true
    }
    queue.push(item('a', tell))
    expect(queue.offer('a', from(tell))).toBe('merged')
    queue.takeBatch(10, 1_000)
    expect(queue.offer('a', from(tell))).toBe('merged')
    expect(told).toBe(0)
    expect(queue.settle()).toBe(3)
    expect(told).toBe(3)
  })

  it('forgets the deliveries of a connection before, however often it reconnects', () => {
    const queue = new IntakeQueue(LIMITS)
    const told: number[] = []
    queue.push(item('a', () => told.push(1) > 0))
    for (let connection = 2; connection <= 1_000; connection += 1) {
      queue.offer(
        'a',
        from(() => told.push(connection) > 0, connection),
      )
    }
    expect(queue.takeBatch(1, 100)[0]?.acknowledgers).toHaveLength(1)
    queue.settle()
    expect(told).toEqual([1_000])
  })

  it('tells the broker at once of a twin that Kafka has, until it is forgotten', () => {
    const queue = new IntakeQueue(LIMITS)
    for (const key of ['a', 'b', 'c']) queue.push(item(key))
    queue.takeBatch(10, 1_000)
    queue.settle()
    let told = 0
    const tell = () => {
      told += 1
      return true
    }
    expect(queue.offer('c', from(tell))).toBe('acknowledged')
    expect(told).toBe(1)
    expect(queue.offer('a', from(tell))).toBe('new')
  })

  it('wakes whoever waits for something', async () => {
    const queue = new IntakeQueue(LIMITS)
    const waits = queue.somethingWaits()
    queue.push(item('a'))
    await waits
    await queue.somethingWaits()
    queue.takeBatch(1, 10)
    queue.settle()
    const stopped = queue.somethingWaits()
    queue.stopWaiting()
    await stopped
  })

  it('stamps what came before the clock, and nothing else', () => {
    const queue = new IntakeQueue(LIMITS)
    queue.push(item('a'))
    queue.push({ ...item('b'), records: [{ topic: 't', key: 'b', value: 'b', timestampMs: 5 }] })
    queue.stamp(9)
    expect(queue.takeBatch(10, 1_000).flatMap(({ records }) => records.map(({ timestampMs }) => timestampMs))).toEqual([9, 5])
  })

  it('asks for records that are only known at their turn', () => {
    const queue = new IntakeQueue(LIMITS)
    let known = 'too early'
    queue.push({ ...item(null), records: [], produce: () => [{ topic: 't', key: null, value: known }] })
    known = 'now'
    expect(queue.takeBatch(1, 10)[0]?.records[0]?.value).toBe('now')
  })

  it('loses nothing and doubles nothing, whatever happens in whatever order', () => {
    const action = fc.oneof(
      fc.record({ do: fc.constant('deliver' as const), key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }),
      fc.record({ do: fc.constant('take' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ do: fc.constant('settle' as const) }),
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const queue = new IntakeQueue({ ...LIMITS, rememberedMessages: 100 })
        const delivered = new Set<string>()
        const written: (string | null)[] = []
        let flight: readonly QueueItem[] = []
        let deliveries = 0
        let told = 0
        const tell = () => {
          told += 1
          return true
        }
        const settle = () => {
          written.push(...flight.map(({ key }) => key))
          flight = []
          queue.settle()
        }
        for (const step of actions) {
          if (step.do === 'deliver') {
            deliveries += 1
            delivered.add(step.key)
            if (queue.offer(step.key, from(tell)) === 'new') queue.push(item(step.key, tell))
          } else if (step.do === 'settle') settle()
          else if (flight.length === 0) flight = queue.takeBatch(step.count, 1_000)
        }
        settle()
        flight = queue.takeBatch(100, 100_000)
        settle()
        expect([...written].sort()).toEqual([...delivered].sort())
        expect(told).toBe(deliveries)
        expect(queue.messages).toBe(0)
        expect(queue.bytes).toBe(0)
      }),
    )
  })
})
