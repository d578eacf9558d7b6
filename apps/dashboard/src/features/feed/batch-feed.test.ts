import type { PanelPoint } from '@km0/contracts/panel'
import { encodeBatch } from '@km0/contracts/panel-batch'
import { describe, expect, test } from 'vitest'
import { BatchFeed, type Move } from './batch-feed.ts'

const NOW = 1_789_380_000_000
const points = (...vans: readonly (readonly [string, number])[]) => new Map(vans.map(([van, slot]) => [van, { van, slot } as PanelPoint]))
const batch = (...slots: number[]) =>
  encodeBatch({
    nowMs: NOW,
    sentMs: NOW,
    points: slots.map((slot) => ({ slot, lat: 42, lon: 2.8, eventMs: NOW, headingDegrees: null, doubtful: false, motion: 'moving' })),
  })
const listenTo = (feed: BatchFeed) => {
  const told: (string | null)[] = []
  const end = feed.listen({
    moved: (moves: readonly Move[]) => told.push(...moves.map(({ van }) => van)),
    forget: () => told.push(null),
  })
  return { told, end }
}

describe('batches', () => {
  test('name the vans of the snapshot; those of a later delta are learnt, others wait for theirs', () => {
    const feed = new BatchFeed()
    feed.begin(points(['a', 0]))
    const { told } = listenTo(feed)
    feed.give(batch(0, 1))
    expect(told).toEqual(['a'])
    feed.learn(points(['a', 0], ['b', 1]))
    feed.give(batch(1))
    expect(told).toEqual(['a', 'b'])
  })

  test('a server that begins anew gives its own slots', () => {
    const feed = new BatchFeed()
    feed.begin(points(['a', 0], ['b', 1]))
    const { told } = listenTo(feed)
    feed.begin(points(['b', 0]))
    feed.give(batch(0, 1))
    expect(told).toEqual([null, 'b'])
  })

  test('nobody hears after the end', () => {
    const feed = new BatchFeed()
    feed.begin(points(['a', 0]))
    const { told, end } = listenTo(feed)
    end()
    feed.give(batch(0))
    expect(told).toEqual([])
  })
})
