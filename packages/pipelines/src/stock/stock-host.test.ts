import { DEFAULT_STOCK_SETTINGS, RECORD_FLAGS, type StockHost } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { createStockHost } from './stock-host.ts'

const T0 = 1_789_380_000_000
const MINUTE = 60_000
const settings = { ...DEFAULT_STOCK_SETTINGS, delayMs: 0 }

function put(host: StockHost, partition: number, offset: number, value: object, timestampMs: number): number {
  const text = JSON.stringify(value)
  return host.onRecord(partition, offset, timestampMs, null, text, text.length, true)
}

const event = (eventMs: number, stock: number, product = 'vi') => ({
  tipus: 'estoc.actualitzat',
  data_ms: eventMs,
  dades: { producte: product, mercat: 'girona', estoc_actual: stock },
})
const heartbeat = (atMs: number) => ({ tipus: 'batec', data_ms: atMs })

describe('sources of stock', () => {
  it('one that was never heard holds the watermark, and so the alert', () => {
    const host = createStockHost(settings, 2)
    put(host, 0, 0, event(T0, 3), T0)
    put(host, 0, 1, heartbeat(T0 + 10 * MINUTE), T0 + 10 * MINUTE)
    expect([host.jobWatermarkMs(), host.drain()]).toEqual([-Infinity, []])
    const flags = put(host, 1, 0, heartbeat(T0 + 5 * MINUTE), T0 + 5 * MINUTE)
    expect(flags).toBe(RECORD_FLAGS.heartbeat | RECORD_FLAGS.watermarkMoved | RECORD_FLAGS.emitted)
    expect(host.drain()).toEqual([
      {
        output: 'alertes',
        key: `${T0}|vi|girona`,
        value: `{"producte":"vi","mercat":"girona","inici_ms":${T0},"fi_ms":${T0 + 5 * MINUTE},"estoc_minim":3,"actualitzacions":1}`,
        partition: 1,
        offset: 0,
      },
    ])
  })

  it('a record of one that does not exist stops the job', () => {
    const host = createStockHost(settings, 2)
    expect(() => put(host, 2, 0, heartbeat(T0), T0)).toThrow(/source partition 2, but there are 2/)
    expect(host.snapshot()).toBe(createStockHost(settings, 2).snapshot())
  })

  it('one added while running holds nothing back until it is heard, and nothing goes back then', () => {
    const host = createStockHost(settings, 1)
    put(host, 0, 0, heartbeat(T0), T0)
    host.setSourcePartitions(2)
    put(host, 0, 1, event(T0 + MINUTE, 3), T0 + MINUTE)
    put(host, 0, 2, heartbeat(T0 + 6 * MINUTE), T0 + 6 * MINUTE)
    expect(host.drain().map(({ output }) => output)).toEqual(['alertes'])
    // Its first event, older than what the job has closed, is late; its heartbeat then counts, but W stays where it was.
    expect(put(host, 1, 0, event(T0 + 2 * MINUTE, 1), T0 + 6 * MINUTE) & RECORD_FLAGS.late).toBeTruthy()
    expect(host.jobWatermarkMs()).toBe(T0 + 6 * MINUTE)
    put(host, 0, 3, heartbeat(T0 + 20 * MINUTE), T0 + 20 * MINUTE)
    expect(host.jobWatermarkMs()).toBe(T0 + 6 * MINUTE)
    put(host, 1, 1, heartbeat(T0 + 9 * MINUTE), T0 + 9 * MINUTE)
    expect(host.jobWatermarkMs()).toBe(T0 + 9 * MINUTE)
    expect(() => host.setSourcePartitions(1)).toThrow(/would be fewer/)
  })

  it('a snapshot of fewer sources is taken over: the others are new', () => {
    const before = createStockHost(settings, 1)
    put(before, 0, 0, heartbeat(T0), T0)
    const after = createStockHost(settings, 3)
    after.restore(before.snapshot())
    put(after, 0, 1, heartbeat(T0 + MINUTE), T0 + MINUTE)
    expect(after.jobWatermarkMs()).toBe(T0 + MINUTE)
    put(after, 2, 0, heartbeat(T0), T0)
    expect(after.jobWatermarkMs()).toBe(T0 + MINUTE)
  })

  it('what an event says of its source raises the watermark of that source before it is judged', () => {
    const host = createStockHost({ ...settings, allowedLatenessMs: MINUTE }, 1)
    put(host, 0, 0, event(T0, 3), T0)
    expect(host.raiseWatermark(0, 1, T0 + 5 * MINUTE)).toBe(RECORD_FLAGS.watermarkMoved | RECORD_FLAGS.emitted)
    expect(host.drain().map(({ output, offset }) => [output, offset])).toEqual([['alertes', 1]])
    expect(host.raiseWatermark(0, 1, T0)).toBe(0)
    expect(host.finalMs(0)).toBe(T0 + 4 * MINUTE)
    put(host, 0, 1, event(T0 + 1, 2), T0 + 5 * MINUTE)
    expect(JSON.parse(host.drain()[0]!.value)).toMatchObject({ estoc_minim: 2, actualitzacions: 2, revisio: 1 })
    host.raiseWatermark(0, 2, T0 + 6 * MINUTE)
    expect(put(host, 0, 2, event(T0 + 2, 1), T0 + 6 * MINUTE) & RECORD_FLAGS.late).toBeTruthy()
  })

  it('counts events that are late while their window is still open by the minimum', () => {
    const host = createStockHost(settings, 2)
    put(host, 0, 0, heartbeat(T0 + 5 * MINUTE), T0 + 5 * MINUTE)
    put(host, 1, 0, heartbeat(T0 + MINUTE), T0 + MINUTE)
    put(host, 0, 1, event(T0 + MINUTE, 1), T0 + 5 * MINUTE)
    expect(host.lateWhileOpenCount()).toBe(1)
    put(host, 1, 1, heartbeat(T0 + 6 * MINUTE), T0 + 6 * MINUTE)
    put(host, 0, 2, event(T0 + MINUTE, 1), T0 + 6 * MINUTE)
    expect(host.lateWhileOpenCount()).toBe(1)
    const restored = createStockHost(settings, 2)
    restored.restore(host.snapshot())
    expect(restored.lateWhileOpenCount()).toBe(1)
  })
})
