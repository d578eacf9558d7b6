import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EpisodeRule, type EpisodeState, type LowWindow, newEpisodeState } from './episode-rule.ts'

const WINDOW = 300_000
const MINUTE = 60_000
const rule = new EpisodeRule(10)

/** A story of one product: `stock` at a minute, `alert` of the window that begins at a minute. Arrival times do not matter here. */
function story() {
  const state = newEpisodeState()
  let offset = 0
  return {
    state,
    stock: (minute: number, stock: number) => rule.onStock(state, { eventMs: minute * MINUTE, partition: 0, offset: offset++, stock }, 1),
    alert: (minute: number, minimum: number) =>
      rule.onAlert(state, { startMs: minute * MINUTE, endMs: minute * MINUTE + WINDOW, minimum }, 1),
    told: () => state.episode?.notices.map(({ motiu, estoc }) => `${motiu} ${estoc}`) ?? [],
  }
}

describe('an episode of low stock', () => {
  it('begins with the alert, not with a low stock', () => {
    const s = story()
    s.stock(1, 7)
    expect(s.state.episode).toBeNull()
    s.alert(0, 7)
    expect(s.state.episode).toMatchObject({ startMs: 0, endMs: null, minimum: 7 })
    expect(s.told()).toEqual(['comenca 7'])
  })

  it('goes on through further low windows and quiet time, and ends when the newest stock is at the threshold', () => {
    const s = story()
    s.stock(1, 7)
    s.alert(0, 7)
    s.stock(6, 6)
    s.alert(5, 6)
    s.stock(90, 9)
    s.alert(90, 9)
    expect(s.state.episode).toMatchObject({ startMs: 0, endMs: null, minimum: 6, lastWindowMs: 90 * MINUTE })
    s.stock(100, 10)
    expect(s.state.episode).toMatchObject({ endMs: 100 * MINUTE, minimum: 6 })
    expect(s.told()).toEqual(['comenca 7'])
  })

  it('is ended by event time: a late event that was high says nothing', () => {
    const s = story()
    s.stock(4, 7)
    s.alert(0, 7)
    s.stock(3, 50)
    expect(s.state.episode?.endMs).toBeNull()
  })

  it('tells when the minimum has halved, once, and when it reaches 0, once', () => {
    const s = story()
    s.stock(1, 8)
    s.alert(0, 8)
    for (const [minute, stock] of [
      [2, 5],
      [3, 4],
      [4, 3],
      [5, 1],
      [6, 0],
      [7, -2],
    ] as const)
      s.stock(minute, stock)
    expect(s.told()).toEqual(['comenca 8', 'meitat 4', 'zero 0'])
    expect(s.state.episode?.minimum).toBe(-2)
  })

  it('tells of 0 alone when the stock falls there at once, and of nothing more when it began there', () => {
    const s = story()
    s.alert(0, 8)
    s.stock(6, 0)
    expect(s.told()).toEqual(['comenca 8', 'zero 0'])
    const empty = story()
    empty.alert(0, 0)
    empty.stock(6, -4)
    expect(empty.told()).toEqual(['comenca 0'])
  })

  it('is over at once when the stock was filled up before its window closed', () => {
    const s = story()
    s.stock(1, 5)
    s.stock(3, 40)
    s.alert(0, 5)
    expect(s.state.episode).toMatchObject({ startMs: 0, endMs: 3 * MINUTE, minimum: 5 })
    expect(s.told()).toEqual(['comenca 5'])
  })

  it('begins anew when the stock falls again in the window that ended it, under another start, with a minimum of its own', () => {
    const s = story()
    s.stock(1, 8)
    s.alert(0, 8)
    s.stock(5.5, 1)
    s.stock(6, 20)
    s.stock(8, 4)
    // The least of the window was before the recovery.
    s.alert(5, 1)
    expect(s.state.episode).toMatchObject({ startMs: 6 * MINUTE + 1, endMs: null, minimum: 4 })
    expect(s.told()).toEqual(['comenca 4'])
  })

  it('tells nothing of a revision of the window that began it, nor of an older one', () => {
    const s = story()
    s.stock(11, 8)
    s.alert(10, 8)
    s.alert(10, 7)
    s.alert(5, 2)
    expect(s.state.episode).toMatchObject({ startMs: 10 * MINUTE, minimum: 7 })
    expect(s.told()).toEqual(['comenca 8'])
  })

  it('lets a revision lower the minimum of an episode that is over, without a word', () => {
    const s = story()
    s.stock(1, 8)
    s.alert(0, 8)
    s.stock(9, 30)
    s.alert(0, 1)
    s.alert(5, 3)
    expect(s.state.episode).toMatchObject({ endMs: 9 * MINUTE, minimum: 1 })
    expect(s.told()).toEqual(['comenca 8'])
  })
})

type Move = { readonly stock: number; readonly minutes: number; readonly late: number }

const moves = fc.array(fc.record({ stock: fc.integer({ min: -3, max: 16 }), minutes: fc.nat(6), late: fc.nat(8) }), { maxLength: 60 })

/** Plays a shop: readings, and the alert of each window that is low, at its end or later. Returns all inputs in their order. */
function inputsOf(list: readonly Move[]) {
  const inputs: (
    | { readonly reading: { eventMs: number; partition: number; offset: number; stock: number } }
    | { readonly window: LowWindow }
  )[] = []
  const open = new Map<number, number>()
  let nowMs = 0
  const close = (untilMs: number) => {
    for (const [startMs, minimum] of [...open].sort(([a], [b]) => a - b)) {
      if (startMs + WINDOW > untilMs) continue
      open.delete(startMs)
      if (minimum < 10) inputs.push({ window: { startMs, endMs: startMs + WINDOW, minimum } })
    }
  }
  list.forEach(({ stock, minutes, late }, offset) => {
    nowMs += minutes * MINUTE
    const eventMs = Math.max(0, nowMs - late * 20_000)
    inputs.push({ reading: { eventMs, partition: 0, offset, stock } })
    const startMs = Math.floor(eventMs / WINDOW) * WINDOW
    open.set(startMs, Math.min(open.get(startMs) ?? stock, stock))
    close(nowMs - 2 * MINUTE)
  })
  close(Number.POSITIVE_INFINITY)
  return inputs
}

function apply(state: EpisodeState, input: ReturnType<typeof inputsOf>[number]): boolean {
  return 'reading' in input ? rule.onStock(state, input.reading, 1).episode : rule.onAlert(state, input.window, 1)
}

describe('laws of episodes', () => {
  it('one telling at the start, at most one of each kind after it; an episode that lasts has a low newest stock', () => {
    fc.assert(
      fc.property(moves, (list) => {
        const state = newEpisodeState()
        for (const input of inputsOf(list)) {
          apply(state, input)
          const { episode, newest } = state
          if (episode === null) continue
          const kinds = episode.notices.map((notice) => notice.motiu)
          expect(kinds[0]).toBe('comenca')
          expect(new Set(kinds).size).toBe(kinds.length)
          if (episode.endMs === null) expect(newest!.stock).toBeLessThan(10)
          else expect(episode.endMs).toBeGreaterThanOrEqual(episode.startMs)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('whatever is applied again, in order and any number of times, tells nothing twice and changes no start and no end', () => {
    fc.assert(
      fc.property(moves, fc.nat(20), (list, back) => {
        const inputs = inputsOf(list)
        const state = newEpisodeState()
        const begun: string[] = []
        for (const input of inputs) {
          apply(state, input)
          if (state.episode !== null) begun.push(`${state.episode.startMs}`)
        }
        const before = structuredClone(state)
        for (const input of inputs.slice(-back)) {
          apply(state, input)
          if (state.episode !== null) begun.push(`${state.episode.startMs}`)
        }
        expect(state.episode?.startMs).toBe(before.episode?.startMs)
        expect(state.episode?.endMs).toBe(before.episode?.endMs)
        expect(state.episode?.notices).toEqual(before.episode?.notices)
      }),
      {
        numRuns: 2_000,
        // Found once: the window that an episode ended in, applied again, told of a zero of the episode before.
        examples: [
          [
            [
              { stock: 0, minutes: 4, late: 0 },
              { stock: 10, minutes: 3, late: 7 },
              { stock: 1, minutes: 0, late: 7 },
            ],
            0,
          ],
        ],
      },
    )
  })

  it('every low window after the end of an episode is told of, when the stock is still low or was not low since', () => {
    fc.assert(
      fc.property(moves, (list) => {
        const state = newEpisodeState()
        for (const input of inputsOf(list)) {
          const ended = state.episode?.endMs ?? Number.NEGATIVE_INFINITY
          const wasOpen = state.episode !== null && state.episode.endMs === null
          const before = state.episode
          apply(state, input)
          if ('reading' in input || wasOpen || input.window.startMs <= ended) continue
          expect(state.episode).not.toBe(before)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
