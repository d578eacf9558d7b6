import type { MarkValue, OutageCause, OutageValue } from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FeedState } from './feed-state.ts'
import { OUTAGES_KEPT, OUTAGES_KEPT_MS, OutageBook } from './outage-book.ts'
import { findCause, type Situation } from './outage-cause.ts'
import type { ProgramReport } from './programs-health.ts'
import { SourceEnds } from './source-ends.ts'

const NOW = 1_789_380_000_000
const LIMIT_MS = 60_000

const mark = (partition: number, offset: number, heartbeatMs: number | null): MarkValue => ({
  particio: partition,
  offset,
  marca_aigua_ms: null,
  progres_ms: null,
  darrer_batec_ms: heartbeatMs,
  darrer_registre_ms: heartbeatMs,
  epoca: 1,
})

describe('the feed', () => {
  const feedOf = (ages: readonly (number | null)[]) => {
    const feed = new FeedState(LIMIT_MS)
    ages.forEach((age, partition) => {
      feed.apply(mark(partition, 5, age === null ? null : NOW - age))
    })
    return feed
  }

  test('an outage is told once, for all partitions that are in it, and for no other', () => {
    const age = fc.option(fc.integer({ min: 0, max: 3 * LIMIT_MS }), { nil: null })
    fc.assert(
      fc.property(fc.array(age, { minLength: 1, maxLength: 12 }), (ages) => {
        const asked: (readonly number[])[] = []
        const view = feedOf(ages).view(NOW, (partitions) => {
          asked.push(partitions)
          return 'bridge'
        })
        const heard = ages.filter((one) => one !== null)
        const deaf = ages.flatMap((one, partition) => (one !== null && one > LIMIT_MS ? [partition] : []))
        expect(asked).toEqual(deaf.length === 0 ? [] : [deaf])
        if (deaf.length === 0) expect(view.trouble).toBeNull()
        else {
          expect(view.trouble?.partitions ?? heard.map(() => 0).length).toEqual(deaf.length === heard.length ? heard.length : deaf)
          expect(view.trouble?.sinceMs).toBe(NOW - Math.min(...heard.filter((one) => one > LIMIT_MS)))
        }
        expect(view.state === 'stale').toBe(heard.length > 0 && deaf.length === heard.length)
        expect(view.noDataSinceMs === null).toBe(view.state !== 'stale')
      }),
    )
  })

  test('before the first heartbeat nothing is an outage', () => {
    expect(feedOf([null, null]).view(NOW)).toMatchObject({ state: 'none', trouble: null })
  })

  test('one of all that ends with one partition after the other makes none of them stuck', () => {
    const feed = feedOf([10 * LIMIT_MS, 10 * LIMIT_MS])
    const causeOf = (nowMs: number) => feed.view(nowMs, (_partitions, whole) => (whole ? 'catching-up' : 'partition')).trouble
    expect(causeOf(NOW)).toMatchObject({ cause: 'catching-up', partitions: null })
    feed.apply(mark(0, 6, NOW))
    expect(causeOf(NOW + 1_000)).toMatchObject({ cause: 'catching-up', partitions: [1] })
    // It stays away while the other is heard.
    feed.apply(mark(0, 7, NOW + 20_000))
    expect(causeOf(NOW + 20_000)).toMatchObject({ cause: 'partition', partitions: [1] })
    feed.apply(mark(1, 6, NOW + 21_000))
    expect(causeOf(NOW + 21_000)).toBeNull()
  })

  test('it is over with the next heartbeat', () => {
    const feed = feedOf([10 * LIMIT_MS])
    expect(feed.view(NOW).trouble).toMatchObject({ cause: 'unknown', partitions: null })
    feed.apply(mark(0, 6, NOW))
    expect(feed.view(NOW).trouble).toBeNull()
  })
})

describe('the cause', () => {
  const ok = (parts: ProgramReport['parts'] = {}): ProgramReport => ({ status: 'ok', parts })
  const silent: ProgramReport = { status: 'silent', parts: {} }
  const down = (part: string): ProgramReport => ({ status: 'down', parts: { [part]: 'down' } })
  const programs = (bridge: ProgramReport, job: ProgramReport = ok(), more: Record<string, ProgramReport> = {}) =>
    new Map(Object.entries({ bridge, 'stream-positions': job, 'stream-serving': silent, ...more }))
  const well: Situation = {
    programs: programs(ok()),
    source: { kafka: { status: 'ok' }, postgres: { status: 'down' } },
    endOffsets: new Map([[0, 9]]),
    nextOffsets: new Map([[0, 9]]),
  }

  test.each<[string, Partial<Situation>, OutageCause]>([
    ['Kafka does not answer us', { source: { kafka: { status: 'down' } }, programs: programs(silent, silent) }, 'kafka'],
    ['the bridge does not answer', { programs: programs(silent) }, 'bridge'],
    ['the bridge has no connection', { programs: programs(down('mqtt')) }, 'broker'],
    ['the bridge hears not even its own probe', { programs: programs(down('input')) }, 'broker'],
    ['Kafka does not answer the bridge', { programs: programs(down('kafka')) }, 'kafka'],
    ['the job does not answer', { programs: programs(ok(), silent) }, 'stream'],
    ['the job cannot join its group', { programs: programs(ok(), down('group')) }, 'stream'],
    ['the log is longer than what the job has read', { nextOffsets: new Map([[0, 8]]) }, 'behind'],
    ['all is well, and heartbeats are held back', {}, 'catching-up'],
    ['nobody can be asked', { programs: new Map(), endOffsets: null }, 'unknown'],
    ['nobody can be asked but the log', { programs: new Map(), nextOffsets: new Map([[0, 8]]) }, 'behind'],
    ['one that stands by does not answer', { programs: programs(ok(), ok(), { 'bridge-2': silent }) }, 'catching-up'],
  ])('of the whole platform: %s', (_what, given, cause) => {
    expect(findCause([0], true, { ...well, ...given })).toBe(cause)
  })

  test('of one partition: it is stuck, unless the bridge of its own does not answer', () => {
    expect(findCause([0], false, { ...well, nextOffsets: new Map([[0, 8]]) })).toBe('partition')
    expect(findCause([0], false, { ...well, programs: programs(ok(), ok(), { 'bridge-2': silent }) })).toBe('bridge')
  })
})

describe('outages that are over', () => {
  const outage = (partition: number, fromMs: number, toMs: number, offset = 1): OutageValue => ({
    tipus: 'tall',
    particio: partition,
    inici_ms: fromMs,
    fi_ms: toMs,
    causa: null,
    epoca: 1,
    offset,
  })

  test('are known once, whatever is read again, and forgotten after a week', () => {
    const book = new OutageBook()
    expect(book.apply(outage(1, NOW, NOW + 90_000))).toBe(true)
    expect(book.apply(outage(1, NOW, NOW + 90_000))).toBe(false)
    expect(book.apply(outage(0, NOW, NOW + 90_000))).toBe(true)
    expect(book.views()).toEqual([0, 1].map((partition) => ({ partition, fromMs: NOW, toMs: NOW + 90_000, cause: 'unknown' })))
    expect(book.apply(outage(0, NOW + OUTAGES_KEPT_MS, NOW + OUTAGES_KEPT_MS + 90_001))).toBe(true)
    expect(book.views()).toHaveLength(1)
    expect(book.apply(outage(3, NOW, NOW + 90_000))).toBe(false)
  })

  test('are bounded: the newest are kept', () => {
    const book = new OutageBook()
    for (let n = 0; n < OUTAGES_KEPT + 10; n += 1) book.apply(outage(0, NOW + n, NOW + n + 1, n))
    expect(book.views()).toHaveLength(OUTAGES_KEPT)
    expect(book.views()[0]?.fromMs).toBe(NOW + 10)
  })
})

test('ends of the log are those of a moment ago, read only while somebody asks', async () => {
  let nowMs = 0
  let reads = 0
  const ends = new SourceEnds(
    async () => {
      reads += 1
      if (reads === 3) throw new Error('away')
      return new Map([[0, reads]])
    },
    () => nowMs,
  )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  expect(ends.before()).toBeNull()
  await settled()
  expect(ends.before()).toBeNull()
  nowMs = 5_000
  expect(ends.before()).toEqual(new Map([[0, 1]]))
  await settled()
  nowMs = 10_000
  expect(ends.before()).toEqual(new Map([[0, 2]]))
  await settled()
  expect(ends.before()).toBeNull()
  expect(reads).toBe(4)
})
