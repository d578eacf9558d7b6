import { DEFAULT_STOCK_SETTINGS, type Emission, type StockHost } from '@km0/contracts'
import { createStockBatch, createStockHost } from '@km0/pipelines'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { feed, type LogRecord, lastRows, MINUTE, SECOND, T0 } from './driver.ts'

const SOURCES = 3

const event = fc.record({
  partition: fc.nat(SOURCES - 1),
  stepMs: fc.oneof(fc.integer({ min: 0, max: 20 * SECOND }), fc.constantFrom(2 * MINUTE, 5 * MINUTE)),
  lateMs: fc.oneof(fc.integer({ min: 0, max: 40 * SECOND }), fc.constantFrom(2 * MINUTE - 1, 2 * MINUTE, 2 * MINUTE + 1, 9 * MINUTE)),
  product: fc.constantFrom('formatge', 'vi-negre', '__proto__'),
  market: fc.constantFrom('girona', 'valència'),
  stock: fc.integer({ min: -2, max: 30 }),
  id: fc.option(fc.nat(12), { nil: undefined }),
  kind: fc.constantFrom('event', 'event', 'event', 'event', 'heartbeat', 'settings', 'other', 'broken'),
})

/** The log of each source partition. */
const sourceLogs: fc.Arbitrary<LogRecord[][]> = fc.array(event, { minLength: 1, maxLength: 120 }).map((events) => {
  const logs: LogRecord[][] = Array.from({ length: SOURCES }, () => [])
  let nowMs = T0
  for (const { partition, stepMs, lateMs, product, market, stock, id, kind } of events) {
    nowMs += stepMs
    const log = logs[partition]!
    const data_ms = nowMs - lateMs
    const texts: Record<string, string> = {
      event: JSON.stringify({
        tipus: 'estoc.actualitzat',
        ...(id === undefined ? {} : { id: `e${id}` }),
        data_ms,
        dades: { producte: product, mercat: market, estoc_actual: stock },
      }),
      heartbeat: JSON.stringify({ tipus: 'batec', data_ms: nowMs }),
      settings: JSON.stringify({ tipus: 'parametres', data_ms: nowMs, retard_ms: MINUTE, marge_ms: 5 * MINUTE }),
      other: JSON.stringify({ tipus: 'comanda.creada', data_ms: nowMs + 1_000_000 }),
      broken: '{"tipus":"estoc.actualitzat"}',
    }
    log.push({ partition, offset: log.length, timestampMs: nowMs, text: texts[kind]! })
  }
  const endMs = nowMs + 60 * MINUTE
  const text = JSON.stringify({ tipus: 'batec', data_ms: endMs })
  for (const [partition, log] of logs.entries()) log.push({ partition, offset: log.length, timestampMs: endMs, text })
  return logs
})

/** One interleaving of the logs, each in its own order: `choices` says which goes next. */
function interleave(logs: readonly (readonly LogRecord[])[], choices: readonly number[]): LogRecord[] {
  const next = logs.map(() => 0)
  const merged: LogRecord[] = []
  for (let turn = 0; merged.length < logs.flat().length; turn += 1) {
    const open = [...logs.keys()].filter((i) => next[i]! < logs[i]!.length)
    const chosen = open[(choices[turn % choices.length] ?? 0) % open.length]!
    merged.push(logs[chosen]![next[chosen]!]!)
    next[chosen] = next[chosen]! + 1
  }
  return merged
}

const choices = fc.array(fc.nat(5), { minLength: 1, maxLength: 60 })
const lateness = fc.constantFrom(0, 90_001, 5 * MINUTE)

function run(log: readonly LogRecord[], allowedLatenessMs: number): Emission[] {
  const host = createStockHost({ ...DEFAULT_STOCK_SETTINGS, allowedLatenessMs }, SOURCES)
  for (const record of log) feed(host, record)
  return host.drain()
}

const withoutRevision = (rows: Map<string, string>) =>
  [...rows].map(([key, value]) => [key, value.replace(/,"revisio":\d+}/, '}')]).sort(([a], [b]) => (a! < b! ? -1 : 1))

describe('laws of stock', () => {
  it('any interleaving that keeps the order of each source gives the same last row of each alert, and the same late events', () => {
    fc.assert(
      fc.property(sourceLogs, choices, choices, lateness, (logs, one, other, allowedLatenessMs) => {
        const a = run(interleave(logs, one), allowedLatenessMs)
        const b = run(interleave(logs, other), allowedLatenessMs)
        expect(withoutRevision(lastRows(b, 'alertes'))).toEqual(withoutRevision(lastRows(a, 'alertes')))
        const late = (emissions: Emission[]) =>
          emissions
            .filter(({ output }) => output === 'tardans')
            .map(({ partition, offset, key, value }) => `${partition} ${offset} ${key} ${value}`)
            .sort()
        expect(late(b)).toEqual(late(a))
      }),
      { numRuns: 200 },
    )
  })

  it('a snapshot taken and restored at any record changes nothing, nor the bytes of a later one', () => {
    fc.assert(
      fc.property(sourceLogs, choices, lateness, fc.nat(), (logs, order, allowedLatenessMs, cut) => {
        const log = interleave(logs, order)
        const at = cut % (log.length + 1)
        const create = () => createStockHost({ ...DEFAULT_STOCK_SETTINGS, allowedLatenessMs }, SOURCES)
        const straight = create()
        for (const record of log) feed(straight, record)
        const first = create()
        for (const record of log.slice(0, at)) feed(first, record)
        const before = first.drain()
        const second = create()
        second.restore(first.snapshot())
        expect(second.snapshot()).toBe(first.snapshot())
        for (const record of log.slice(at)) expect(feed(second, record)).toBe(feed(first, record))
        const after = second.drain()
        expect([...before, ...after]).toEqual(straight.drain())
        expect(second.snapshot()).toBe(straight.snapshot())
        expect(second.lateWhileOpenCount()).toBe(straight.lateWhileOpenCount())
      }),
      { numRuns: 150 },
    )
  })

  it('against live, in the batch no alert disappears, and no minimum rises', () => {
    fc.assert(
      fc.property(sourceLogs, choices, (logs, order) => {
        const log = interleave(logs, order)
        const batch = createStockBatch()
        for (const record of log) feed(batch, record)
        const rows = new Map(batch.rows().map(({ key, value }) => [key, JSON.parse(value)]))
        for (const [key, value] of lastRows(run(log, 0), 'alertes')) {
          const live = JSON.parse(value)
          expect(rows.get(key)?.estoc_minim, key).toBeLessThanOrEqual(live.estoc_minim)
          expect(rows.get(key)?.actualitzacions, key).toBeGreaterThanOrEqual(live.actualitzacions)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('state does not grow over a day', () => {
    const host = createStockHost({ ...DEFAULT_STOCK_SETTINGS, allowedLatenessMs: 5 * MINUTE }, 1)
    const sizes = Array.from({ length: 24 }, (_, hour) => fill(host, hour))
    expect(Math.max(...sizes)).toBeLessThan(sizes[0]! * 1.1)
  })
})

/** Feeds an hour of events and returns how long the snapshot then is. */
function fill(host: StockHost, hour: number): number {
  for (let second = 0; second < 3600; second += 2) {
    const atMs = T0 + (hour * 3600 + second) * SECOND
    const dades = { producte: `p${second % 20}`, mercat: 'girona', estoc_actual: second % 31 }
    const text = JSON.stringify({ tipus: 'estoc.actualitzat', id: `e${10_000 + second}`, data_ms: atMs, dades })
    feed(host, { partition: 0, offset: hour * 3600 + second, timestampMs: atMs, text })
    host.drain()
  }
  return host.snapshot().length
}
