import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  ANSWER_WITHIN_MS,
  type Connection,
  FAILED_AFTER_MS,
  followLine,
  HANGS_AFTER_MS,
  LINE_OPTIONS,
  type LineSocket,
  QUIET_AFTER_MS,
  SEEK_EVERY_MS,
} from './live-line.ts'

/** A line to a server whose deltas are numbers; a model is the list of those that it holds. */
class ToldSocket extends EventEmitter implements LineSocket {
  readonly asked: string[] = []
  active = true
  override emit(event: string, ...given: unknown[]): boolean {
    if (event !== 'resync') return super.emit(event, ...given)
    this.asked.push('resync')
    return true
  }
  connect() {
    this.asked.push('connect')
  }
  disconnect() {
    this.asked.push('disconnect')
  }
}
class ToldPage extends EventEmitter {
  addEventListener(event: string, listener: () => void) {
    this.on(event, listener)
  }
  removeEventListener(event: string, listener: () => void) {
    this.off(event, listener)
  }
}

interface More {
  readonly speaksAlways?: boolean
  readonly getsThrough?: () => Promise<boolean>
}

function open(more: More = {}) {
  const socket = new ToldSocket()
  const page = new ToldPage()
  const seen: (readonly [readonly number[] | null, Connection])[] = []
  const close = followLine<readonly number[]>({
    socket,
    pages: [page],
    modelOf: (wire) => wire as number[],
    apply: (model, wire) => ((model.at(-1) ?? 0) + 1 === wire ? [...model, wire as number] : null),
    onChange: (model, connection) => seen.push([model, connection]),
    getsThrough: async () => false,
    ...more,
  })
  return { socket, page, seen, close }
}
const connected = (more?: More) => {
  const line = open(more)
  line.socket.emit('connect')
  line.socket.emit('snapshot', [1])
  return line
}

describe('a line', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('takes a snapshot, then deltas, each once and in order', () => {
    const { socket, seen, close } = connected()
    for (const delta of [2, 3]) socket.emit('delta', delta)
    expect(seen.at(-1)).toEqual([[1, 2, 3], 'connected'])
    // One was lost: nothing counts until the snapshot that is asked for.
    socket.emit('delta', 5)
    socket.emit('delta', 6)
    expect(seen.at(-1)).toEqual([[1, 2, 3], 'connected'])
    expect(socket.asked).toEqual(['resync'])
    socket.emit('snapshot', [1, 2, 3, 4, 5, 6])
    socket.emit('delta', 7)
    expect(seen.at(-1)).toEqual([[1, 2, 3, 4, 5, 6, 7], 'connected'])
    close()
  })

  test('of a server that begins anew counts its snapshot alone, though its numbers are lower', () => {
    const { socket, seen, close } = connected()
    for (const delta of [2, 3]) socket.emit('delta', delta)
    socket.emit('disconnect', 'transport close')
    expect(seen.at(-1)).toEqual([[1, 2, 3], 'lost'])
    socket.emit('connect')
    // Of the new server, before its snapshot: it is in there.
    socket.emit('delta', 4)
    expect(seen.at(-1)).toEqual([[1, 2, 3], 'lost'])
    socket.emit('snapshot', [1])
    expect(seen.at(-1)).toEqual([[1], 'connected'])
    close()
  })

  test('comes back by itself, also when the server has hung up', () => {
    const { socket, close } = connected()
    socket.emit('disconnect', 'io server disconnect')
    vi.advanceTimersByTime(1_000)
    expect(socket.asked).toEqual(['connect'])
    close()
  })

  test('a machine that slept asks as soon as it is awake, and takes another line when nobody answers', () => {
    const { socket, page, close } = connected()
    // Asleep no timer runs; only the clock has gone on.
    vi.setSystemTime(Date.now() + 30 * 60_000)
    page.emit('visibilitychange')
    expect(socket.asked).toEqual(['resync'])
    page.emit('online')
    expect(socket.asked).toEqual(['resync'])
    vi.advanceTimersByTime(ANSWER_WITHIN_MS)
    expect(socket.asked).toEqual(['resync', 'disconnect', 'connect'])
    close()
  })

  test('an answer is all that it wanted', () => {
    const { socket, page, close } = connected()
    vi.setSystemTime(Date.now() + 30 * 60_000)
    page.emit('visibilitychange')
    socket.emit('snapshot', [1, 2])
    vi.advanceTimersByTime(ANSWER_WITHIN_MS)
    expect(socket.asked).toEqual(['resync'])
    close()
  })

  test('a line that is dead without saying so is noticed within seconds', () => {
    const { socket, close } = connected()
    vi.advanceTimersByTime(QUIET_AFTER_MS + 1_000 + ANSWER_WITHIN_MS)
    expect(socket.asked).toEqual(['resync', 'disconnect', 'connect'])
    close()
  })

  test('while it waits for its next try, whoever looks need not wait', () => {
    const { socket, page, close } = connected()
    socket.emit('disconnect', 'transport close')
    vi.advanceTimersByTime(60_000)
    expect(socket.asked).toEqual([])
    page.emit('pageshow')
    vi.advanceTimersByTime(1)
    expect(socket.asked).toEqual(['disconnect', 'connect'])
    close()
  })

  test('a try that hangs is given up as soon as another one would get through', async () => {
    let isMended = false
    let probes = 0
    const { socket, close } = connected({
      getsThrough: async () => {
        probes += 1
        return isMended
      },
    })
    socket.emit('disconnect', 'transport close')
    await vi.advanceTimersByTimeAsync(30_000)
    expect(socket.asked).toEqual([])
    expect(probes).toBeGreaterThan(10)
    isMended = true
    await vi.advanceTimersByTimeAsync(SEEK_EVERY_MS)
    expect(socket.asked).toEqual(['disconnect', 'connect'])
    // The new try is given its time.
    await vi.advanceTimersByTimeAsync(LINE_OPTIONS.timeout - 1)
    expect(socket.asked).toEqual(['disconnect', 'connect'])
    const asked = probes
    socket.emit('connect')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(probes).toBe(asked)
    close()
  })

  test('nothing is tried beside a server that refuses at once, nor for somebody who must sign in first', async () => {
    let probes = 0
    const { socket, close } = connected({
      getsThrough: async () => {
        probes += 1
        return true
      },
    })
    socket.emit('disconnect', 'transport close')
    for (let tries = 0; tries < 20; tries += 1) {
      socket.emit('connect_error', new Error('refused'))
      await vi.advanceTimersByTimeAsync(HANGS_AFTER_MS - 1)
    }
    socket.active = false
    await vi.advanceTimersByTimeAsync(60_000)
    expect(probes).toBe(0)
    expect(socket.asked).toEqual([])
    close()
  })

  test('a server that still reads its store, and one that may fall silent, are left alone', () => {
    const waiting = open()
    waiting.socket.emit('connect')
    const silent = connected({ speaksAlways: false })
    vi.advanceTimersByTime(60_000)
    expect(waiting.socket.asked).toEqual([])
    expect(silent.socket.asked).toEqual([])
    silent.page.emit('visibilitychange')
    vi.advanceTimersByTime(ANSWER_WITHIN_MS)
    expect(silent.socket.asked).toEqual(['disconnect', 'connect'])
    waiting.close()
    silent.close()
  })

  test('a first connection that takes long is told', () => {
    const { seen, close } = open()
    vi.advanceTimersByTime(FAILED_AFTER_MS)
    expect(seen).toEqual([[null, 'failed']])
    close()
  })

  test('a thousand visits leave no listener and no timer (D03)', () => {
    const page = new ToldPage()
    for (let visit = 0; visit < 1_000; visit += 1) {
      const socket = new ToldSocket()
      const close = followLine<number>({
        socket,
        pages: [page],
        modelOf: () => 0,
        apply: () => 0,
        onChange: () => undefined,
      })
      if (visit % 2 === 0) socket.emit('disconnect', 'transport close')
      close()
    }
    expect(page.eventNames()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
