import type { Savepoint } from '@km0/checkpoints'
import { describe, expect, it } from 'vitest'
import { describeHoles, planRestore, type RestoreWish, type TopicNow } from './savepoint-plan.ts'

const savepoint = (offsets: readonly number[]): Savepoint => ({
  format: 1,
  name: 'one',
  pipeline: 'positions',
  createdAtMs: 0,
  clusterId: 'here',
  topic: 'a topic',
  topicEpoch: 1,
  epoch: 1,
  version: 1,
  stateVersion: 2,
  settings: {},
  states: 'x',
  partitions: offsets.map((offset, partition) => ({ partition, offset, state: null })),
})
const topic = (ends: readonly number[], starts: readonly number[] = ends.map(() => 0), change: Partial<TopicNow> = {}): TopicNow => ({
  clusterId: 'here',
  topicEpoch: 1,
  starts: new Map(starts.entries()),
  ends: new Map(ends.entries()),
  ...change,
})
const plan = (from: Savepoint, now: TopicNow, wish: Partial<RestoreWish> = {}, unreadAtEnd = 0) =>
  planRestore(from, now, { partitions: null, newTopic: false, acceptHole: false, acceptLoss: false, ...wish }, unreadAtEnd)

describe('the plan of a restore', () => {
  it('goes on where the savepoint was made, whatever came since', () => {
    expect(plan(savepoint([5, 7]), topic([90, 91]))).toEqual({
      way: 'same',
      partitions: 2,
      moves: false,
      offsets: new Map([
        [0, 5],
        [1, 7],
      ]),
      holes: [],
    })
  })

  it('tells the hole that retention has left, how to fill it, and goes on behind it when told so', () => {
    const [from, now] = [savepoint([5, 7]), topic([90, 91], [20, 3])]
    expect(() => plan(from, now)).toThrow(/partition 0: 5 to 19\).*backfill.*--accept-hole/)
    const { offsets, holes } = plan(from, now, { acceptHole: true })
    expect([...offsets]).toEqual([
      [0, 20],
      [1, 7],
    ])
    expect(describeHoles(holes)).toMatch(/km0 backfill run/)
  })

  it('is refused where offsets mean other records', () => {
    expect(() => plan(savepoint([5]), topic([90], [0], { clusterId: 'there' }))).toThrow(/another a topic .*--new-topic/)
    expect(() => plan(savepoint([5]), topic([90], [0], { topicEpoch: 2 }))).toThrow(/another a topic/)
    expect(() => plan(savepoint([5]), topic([4]))).toThrow(/ends at offset 4, but the savepoint was made at 5/)
  })

  it('wants the number of partitions said when it is another, and nothing after the savepoint then', () => {
    expect(() => plan(savepoint([5, 7]), topic([5, 7, 0]))).toThrow(/has 3 partitions, the savepoint 2: say --partitions 3/)
    expect(() => plan(savepoint([5, 7]), topic([5, 7, 0]), { partitions: 2 })).toThrow(/say --partitions 3/)
    expect(() => plan(savepoint([5, 7]), topic([5, 8]), { partitions: 4 })).toThrow(/came after the savepoint one \(partition 1: 1\)/)
    expect(plan(savepoint([5, 7]), topic([5, 7]), { partitions: 4 })).toMatchObject({ way: 'grow', moves: true, partitions: 4 })
    const grown = plan(savepoint([5, 7]), topic([5, 7, 30], [0, 0, 12]), { partitions: 4 })
    expect([...grown.offsets.values()]).toEqual([5, 7, 12, 0])
  })

  it('begins a new topic for fewer, or on another cluster; what is deleted is said first', () => {
    expect(() => plan(savepoint([5, 7]), topic([5, 7]), { partitions: 1 })).toThrow(/say --new-topic --partitions 1/)
    expect(() => plan(savepoint([5, 7]), topic([5, 7], [1, 0]), { partitions: 1, newTopic: true })).toThrow(/holds 11 records.*--yes/)
    expect(() => plan(savepoint([5, 7]), topic([5, 9]), { newTopic: true, acceptLoss: true })).toThrow(/came after the savepoint/)
    expect(plan(savepoint([5, 7]), topic([5, 7]), { partitions: 1, newTopic: true, acceptLoss: true })).toMatchObject({
      way: 'replace',
      moves: true,
      offsets: new Map([[0, 0]]),
    })
    const elsewhere = topic([0, 0, 0], [0, 0, 0], { clusterId: 'there' })
    expect(plan(savepoint([5, 7]), elsewhere, { newTopic: true })).toMatchObject({ way: 'replace', moves: false, partitions: 2 })
  })

  it('does not count the mark that ends a transaction as a record', () => {
    expect(plan(savepoint([5]), topic([6]), { newTopic: true, acceptLoss: true }, 1).way).toBe('replace')
  })
})
