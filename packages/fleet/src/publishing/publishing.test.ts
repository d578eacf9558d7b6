import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MqttPublisher } from '@km0/transport/mqtt-publisher'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Outgoing } from '../messages/outgoing.ts'
import { advance, ClockMemory, firstInstant, type Progress, without } from './clock-memory.ts'
import { Journal } from './journal.ts'
import { duration } from './narrator.ts'
import { dueMs, hasMet } from './pace.ts'
import { progressLine } from './progress.ts'
import { pump } from './pump.ts'
import { PublishWindow } from './window.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-publishing-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const position = (arrivalMs: number, payload = 'x'): Outgoing => ({
  topic: 't',
  payload,
  arrivalMs,
  van: 'v',
  eventMs: arrivalMs,
  fault: null,
})
const tick = (arrivalMs: number): Outgoing => ({ topic: 'c', payload: '', arrivalMs, van: null, eventMs: null, fault: null })

/** Acknowledges when told to. */
class HeldPublisher implements MqttPublisher {
  readonly sent: string[] = []
  readonly #held: { resolve: () => void; reject: (error: Error) => void }[] = []
  connected = () => true
  publish = (_topic: string, payload: string | Buffer) => {
    this.sent.push(String(payload))
    return new Promise<void>((resolve, reject) => this.#held.push({ resolve, reject }))
  }
  acknowledge(count: number): void {
    for (const { resolve } of this.#held.splice(0, count)) resolve()
  }
  fail(): void {
    for (const { reject } of this.#held.splice(0)) reject(new Error('closed'))
  }
  close = () => Promise.resolve()
}

describe('the pace', () => {
  it('is never ahead of the machine, is as fast as asked before, and 1 after the meeting', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), fc.double({ min: 2, max: 1_000, noNaN: true }), (agoMs, speed) => {
        const pace = { fromMs: 1e12 - agoMs, machineMs: 1e12, speed }
        const meetingMs = 1e12 + agoMs / (speed - 1)
        for (const share of [0, 0.3, 0.9, 1.1, 5]) {
          const simulatedMs = pace.fromMs + share * (meetingMs - pace.fromMs)
          expect(dueMs(pace, simulatedMs)).toBeGreaterThanOrEqual(simulatedMs)
          if (share < 1 && agoMs > 1_000) expect(hasMet(pace, simulatedMs)).toBe(false)
          if (share > 1) {
            expect(hasMet(pace, simulatedMs)).toBe(true)
            expect(dueMs(pace, simulatedMs)).toBe(simulatedMs)
          }
        }
      }),
    )
    expect(dueMs({ fromMs: 0, machineMs: 1_000, speed: Number.POSITIVE_INFINITY }, 400)).toBe(1_000)
  })
})

describe('the window', () => {
  it('has at most so many under way, keeps order, and says what is acknowledged', async () => {
    const publisher = new HeldPublisher()
    const acknowledged: string[] = []
    const window = new PublishWindow(publisher, 3, (message) => acknowledged.push(String(message.payload)))
    const signal = new AbortController().signal
    const pushed = (async () => {
      for (let at = 0; at < 8; at += 1) await window.push(position(at, String(at)), signal)
    })()
    await new Promise(setImmediate)
    expect(publisher.sent).toEqual(['0', '1', '2'])
    publisher.acknowledge(2)
    await new Promise(setImmediate)
    expect(publisher.sent).toEqual(['0', '1', '2', '3', '4'])
    for (let round = 0; round < 8; round += 1) {
      publisher.acknowledge(1)
      await new Promise(setImmediate)
    }
    await pushed
    expect(await window.flush(signal)).toBe(0)
    expect(acknowledged).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'])
  })

  it('lets go when it is told to stop, and counts what is left', async () => {
    const publisher = new HeldPublisher()
    const window = new PublishWindow(publisher, 1, () => {})
    const stop = new AbortController()
    expect(await window.push(position(0), stop.signal)).toBe(true)
    const second = window.push(position(1), stop.signal)
    stop.abort()
    expect(await second).toBe(false)
    expect(await window.flush(AbortSignal.timeout(20))).toBe(1)
  })

  it('passes a failure on to the next message', async () => {
    const publisher = new HeldPublisher()
    const window = new PublishWindow(publisher, 1, () => {})
    const signal = new AbortController().signal
    await window.push(position(0), signal)
    publisher.fail()
    await expect(window.push(position(1), signal)).rejects.toThrow('closed')
  })
})

describe('the pump', () => {
  it('leaves out what is due for too long, and says when the clocks have met', async () => {
    const publisher = new HeldPublisher()
    const window = new PublishWindow(publisher, 100, () => {})
    const nowMs = Date.now()
    let metAt = ''
    const messages = [position(nowMs - 5_000, 'old'), position(nowMs - 50, 'new'), position(nowMs + 30, 'next')]
    const result = await pump(messages, {
      pace: { fromMs: nowMs - 5_000, machineMs: nowMs - 5_000, speed: 1 },
      window,
      signal: new AbortController().signal,
      maxBehindMs: 1_000,
      onPublished: () => {},
      onMet: () => {
        metAt = publisher.sent.join()
      },
    })
    expect(result).toEqual({ skipped: 1 })
    expect(publisher.sent).toEqual(['new', 'next'])
    expect(metAt).toBe('')
    expect(Date.now()).toBeGreaterThanOrEqual(nowMs + 29)
  })
})

describe('the memory of the clock', () => {
  it('counts the positions of the newest millisecond', () => {
    let progress: Progress = { clockMs: 0, messages: 0 }
    for (const message of [tick(5), position(5), position(5), tick(6), position(7), tick(7), position(7)])
      progress = advance(progress, message.arrivalMs, message.van === null)
    expect(progress).toEqual({ clockMs: 7, messages: 2 })
  })

  it('is read again, and a spoilt file counts as none', () => {
    const memory = new ClockMemory(join(folder, 'state', 'clock.json'))
    expect(memory.read()).toBeNull()
    memory.save({ clockMs: 7, messages: 2 }, 0, true)
    expect(memory.read()).toEqual({ clockMs: 7, messages: 2 })
    memory.save({ clockMs: 8, messages: 0 }, 999)
    expect(memory.read()).toEqual({ clockMs: 7, messages: 2 })
    memory.save({ clockMs: 9, messages: 0 }, 1_000)
    expect(memory.read()).toEqual({ clockMs: 9, messages: 0 })
  })

  it('a source begins where it was, at most so long ago, without what went out', () => {
    const nowMs = 1_789_380_000_000
    const remembered = { clockMs: nowMs - 600_000, messages: 3 }
    expect(firstInstant(1_800_000, remembered, nowMs)).toEqual(remembered)
    expect(firstInstant(300_000, remembered, nowMs)).toEqual({ clockMs: nowMs - 300_000, messages: 0 })
    expect(firstInstant(1_800_000, null, nowMs)).toEqual({ clockMs: nowMs - 1_800_000, messages: 0 })
    expect(firstInstant(0, null, nowMs)).toEqual({ clockMs: nowMs, messages: 0 })
    expect([...without(2, ['a', 'b', 'c'])]).toEqual(['c'])
  })
})

describe('the journal', () => {
  it('has a line a position, none for the clock, and keeps one old file', () => {
    const path = join(folder, 'journal.jsonl')
    const journal = new Journal(path, 1_000_000)
    journal.write(tick(1))
    journal.write({ ...position(2, '{"a":1}'), fault: 'jump' })
    journal.close()
    // When the broker had it is told by the machine's clock.
    expect(readFileSync(path, 'utf8').replace(/"acked_ms":\d{13}/, '"acked_ms":0')).toBe(
      '{"van":"v","event_ms":2,"arrival_ms":2,"acked_ms":0,"topic":"t","bytes":7,"sha256":"015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862","fault":"jump"}\n',
    )
    const small = new Journal(path, 300)
    small.write(position(3))
    small.close()
    const third = new Journal(path, 300)
    third.write(position(4))
    third.close()
    expect(readFileSync(`${path}.1`, 'utf8').split('\n').length).toBe(3)
    expect(readFileSync(path, 'utf8')).toContain('"event_ms":4')
  })
})

it('progress and durations are readable', () => {
  expect(progressLine({ done: 10_248, total: 24_996, perSecond: 5_120.4, leftMs: 20_580_000 })).toBe(
    '[############------------------]  40 %  10,248 of 24,996  5,120/s  5 h 43 min of recording left',
  )
  expect(progressLine({ done: 0, total: 0, perSecond: 0, leftMs: 0 })).toContain('100 %')
  expect([45_000, 240_000, 4_800_000, 5_700_000].map(duration)).toEqual(['45 s', '4 min', '80 min', '1 h 35 min'])
})
