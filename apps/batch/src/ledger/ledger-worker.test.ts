import type { LedgerReport } from '@km0/contracts'
import { describe, expect, it, vi } from 'vitest'
import { LedgerWorker, type LedgerWorkerParts } from './ledger-worker.ts'

const HOUR = 3_600_000
const T0 = 497_000 * HOUR + 1_000
const REPORT = { unnamed: 0 } as LedgerReport
const settings = { pollMs: 5, timeoutMs: 5_000, keepDays: 30, hourlyAfterMs: 600_000 }

/** Runs in memory, as the store keeps them. */
class Runs {
  readonly waiting: { id: number; fromMs: number; toMs: number }[] = []
  readonly ended = new Map<number, string>()
  readonly hours: number[] = []
  isOurs = true
  fails = false
  async take() {
    if (this.fails) throw new Error('away')
    return this.waiting.shift() ?? null
  }
  async progress() {
    return this.isOurs
  }
  async finish(id: number) {
    this.ended.set(id, 'done')
    return true
  }
  async fail(id: number, _worker: string, detail: string) {
    this.ended.set(id, detail)
    return true
  }
  async release(id: number) {
    this.ended.set(id, 'released')
    return true
  }
  async askHourly(fromMs: number) {
    this.hours.push(fromMs)
  }
  async dropBefore() {
    return 0
  }
}

function workerWith(runs: Runs, parts: Partial<LedgerWorkerParts> = {}): LedgerWorker {
  return new LedgerWorker({
    name: 'here',
    runs: runs as LedgerWorkerParts['runs'],
    settings,
    make: async () => REPORT,
    nowMs: () => T0,
    onEnd: () => undefined,
    onTrouble: () => undefined,
    ...parts,
  })
}

/** A run that ends only when it is told to. */
const endless: LedgerWorkerParts['make'] = (_span, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

describe('the worker of the ledger', () => {
  it('does what waits, one after the other, and tells how it ended', async () => {
    const runs = new Runs()
    runs.waiting.push({ id: 1, fromMs: 0, toMs: 1 }, { id: 2, fromMs: 1, toMs: 2 })
    const ends: (number | null)[] = []
    await workerWith(runs, { onEnd: (_run, unnamed) => ends.push(unnamed) }).lookOnce()
    expect([...runs.ended]).toEqual([
      [1, 'done'],
      [2, 'done'],
    ])
    expect(ends).toEqual([0, 0])
  })

  it('stops one that was cancelled, and says nothing of it', async () => {
    const runs = new Runs()
    runs.isOurs = false
    runs.waiting.push({ id: 1, fromMs: 0, toMs: 1 })
    await workerWith(runs, { make: endless }).lookOnce()
    expect(runs.ended.size).toBe(0)
  })

  it('gives up one that takes too long, with the reason', async () => {
    const runs = new Runs()
    runs.waiting.push({ id: 1, fromMs: 0, toMs: 1 })
    await workerWith(runs, { make: endless, settings: { ...settings, timeoutMs: 30 } }).lookOnce()
    expect(runs.ended.get(1)).toContain('took longer than')
  })

  it('tells why one failed, and goes on', async () => {
    const runs = new Runs()
    runs.waiting.push({ id: 1, fromMs: 0, toMs: 1 }, { id: 2, fromMs: 1, toMs: 2 })
    const make = vi.fn(async () => REPORT).mockRejectedValueOnce(new Error('the log is away'))
    await workerWith(runs, { make }).lookOnce()
    expect([...runs.ended]).toEqual([
      [1, 'the log is away'],
      [2, 'done'],
    ])
  })

  it('asks for each hour once, some time after its end', async () => {
    const runs = new Runs()
    let nowMs = T0
    const worker = workerWith(runs, { nowMs: () => nowMs })
    await worker.lookOnce()
    expect(runs.hours).toEqual([])
    nowMs = 497_001 * HOUR + 599_999
    await worker.lookOnce()
    expect(runs.hours).toEqual([497_000 * HOUR - HOUR])
    nowMs += 1
    await worker.lookOnce()
    await worker.lookOnce()
    expect(runs.hours).toEqual([497_000 * HOUR - HOUR, 497_000 * HOUR])
  })

  it('tells once that the store is away, and tries on', async () => {
    const runs = new Runs()
    runs.fails = true
    let troubles = 0
    const worker = workerWith(runs, { onTrouble: () => troubles++ })
    await worker.lookOnce()
    await worker.lookOnce()
    expect([troubles, worker.trouble]).toEqual([1, 'away'])
    runs.fails = false
    await worker.lookOnce()
    expect(worker.trouble).toBeNull()
  })

  it('is closed in the middle of a run, which stays for the next one', async () => {
    const runs = new Runs()
    runs.waiting.push({ id: 1, fromMs: 0, toMs: 1 })
    let started: () => void = () => undefined
    const begun = new Promise<void>((resolve) => {
      started = resolve
    })
    const worker = workerWith(runs, {
      make: (span, signal, onProgress) => {
        started()
        return endless(span, signal, onProgress)
      },
    })
    worker.start()
    await begun
    await worker.close()
    expect(runs.ended.get(1)).toBe('released')
  })
})
