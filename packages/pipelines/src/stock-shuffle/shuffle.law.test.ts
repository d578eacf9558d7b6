import {
  DEFAULT_STOCK_SETTINGS,
  decodeShuffled,
  encodeHeartbeat,
  encodeSettings,
  encodeShuffled,
  type ShuffledHeaders,
} from '@km0/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStockHost } from '../stock/stock-host.ts'
import { type ShuffleOutput, ShuffleTask } from './shuffle-task.ts'
import { StockWindowsTask } from './windows-task.ts'

const T0 = 1_789_380_000_000
const LIMITS = { maxFutureMs: 60_000, maxAgeMs: 604_800_000 }
const { delayMs: _delay, allowedLatenessMs: _allowed, ...RULES } = DEFAULT_STOCK_SETTINGS
const SETTINGS = { delayMs: 20_000, allowedLatenessMs: 60_000 }
const TARGETS = 3

interface Source {
  readonly text: string
  readonly arrivalMs: number
}

/** A record of the shuffle's topic, and all that a reader gets. */
interface Shuffled {
  readonly target: number
  readonly headers: ShuffledHeaders
  readonly text: string
}

/** What a source does: records, and moments at which it is found silent or its progress is told. */
type Step =
  | {
      readonly do: 'event'
      readonly product: number
      readonly stock: number
      readonly aheadMs: number
      readonly lateMs: number
      readonly twin: boolean
    }
  | { readonly do: 'other' | 'broken' | 'mark' }
  | { readonly do: 'beat' | 'copied-heartbeat'; readonly aheadMs: number }
  | { readonly do: 'settings'; readonly delayMs: number; readonly allowedLatenessMs: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      product: fc.nat(3),
      stock: fc.integer({ min: -1, max: 14 }),
      aheadMs: fc.integer({ min: 0, max: 90_000 }),
      lateMs: fc.oneof(fc.integer({ min: 0, max: 15_000 }), fc.integer({ min: 0, max: 400_000 })),
      twin: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ do: 'other' }, { do: 'broken' }, { do: 'mark' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('beat' as const, 'copied-heartbeat' as const), aheadMs: fc.nat(200_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('settings' as const), delayMs: fc.nat(60_000), allowedLatenessMs: fc.nat(400_000) }),
  },
)

const target = (key: string) => [...key].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % TARGETS

/** Runs a source's shuffle task: the records that it writes, in order, and what one reader of the whole log would read for this source. */
function shuffle(
  partition: number,
  steps: readonly Step[],
  sources: number,
): { written: Shuffled[]; merged: { offset: number; arrivalMs: number; text: string }[] } {
  const task = new ShuffleTask(LIMITS, 1)
  const written: Shuffled[] = []
  const merged: { offset: number; arrivalMs: number; text: string }[] = []
  const put = (outputs: readonly ShuffleOutput[], record: Source | null) => {
    for (const output of outputs) {
      if (output.kind === 'refused') continue
      const own = output.kind === 'own'
      const headers: ShuffledHeaders = {
        sourcePartition: partition,
        sourceOffset: output.offset,
        arrivalMs: own ? output.eventMs : output.arrivalMs,
        watermarkMs: output.kind === 'event' ? output.watermarkMs : null,
        number: own ? output.number : null,
        sourcePartitions: own ? sources : null,
      }
      const text = own ? output.value : record!.text
      const targets = output.kind === 'event' ? [target(output.key)] : [...Array(TARGETS).keys()]
      for (const to of targets) written.push({ target: to, headers, text })
      merged.push({ offset: output.offset, arrivalMs: headers.arrivalMs, text })
    }
  }
  let nowMs = T0 + partition * 7_000
  let offset = 0
  const first: ShuffleOutput[] = []
  task.configure(SETTINGS, nowMs, first)
  put(first, null)
  for (const todo of steps) {
    const out: ShuffleOutput[] = []
    const read = (record: Source) => {
      task.onRecord(offset, record.arrivalMs, record.text, record.text.length, true, out)
      offset += 1
      put(out, record)
    }
    if ('aheadMs' in todo) nowMs += todo.aheadMs
    if (todo.do === 'event') {
      const dades = { producte: `p${todo.product}`, mercat: 'girona', estoc_actual: todo.stock }
      const id = todo.twin ? `e${todo.product}-${todo.stock}` : undefined
      read({ text: JSON.stringify({ tipus: 'estoc.actualitzat', id, data_ms: nowMs - todo.lateMs, dades }), arrivalMs: nowMs })
    } else if (todo.do === 'other') read({ text: '{"tipus":"comanda.creada"}', arrivalMs: nowMs })
    else if (todo.do === 'broken') read({ text: '{"tipus":', arrivalMs: nowMs })
    else if (todo.do === 'copied-heartbeat') read({ text: encodeHeartbeat(nowMs), arrivalMs: nowMs })
    else if (todo.do === 'settings') read({ text: encodeSettings(nowMs, todo.delayMs, todo.allowedLatenessMs), arrivalMs: nowMs })
    else {
      if (todo.do === 'mark') task.mark(out)
      else task.beat(nowMs, out)
      put(out, null)
    }
  }
  const last: ShuffleOutput[] = []
  task.beat(T0 + 86_400_000, last)
  put(last, null)
  return { written, merged }
}

/** Interleaves lists, keeping the order of each, as `choices` say. */
function interleave<T>(lists: readonly (readonly T[])[], choices: readonly number[]): T[] {
  const next = lists.map(() => 0)
  const out: T[] = []
  for (let turn = 0; ; turn += 1) {
    const open = lists.map((_, index) => index).filter((index) => next[index]! < lists[index]!.length)
    if (open.length === 0) return out
    const chosen = open[(choices[turn % choices.length] ?? 0) % open.length]!
    out.push(lists[chosen]![next[chosen]!]!)
    next[chosen]! += 1
  }
}

const withoutRevision = (value: string) => JSON.stringify({ ...JSON.parse(value), revisio: undefined })

/** Last alert of each key, and all late reports, as text. */
interface Results {
  readonly alerts: ReadonlyMap<string, string>
  readonly late: readonly string[]
}

function runTargets(records: readonly Shuffled[], crash: { readonly every: number } | null = null): Results {
  const alerts = new Map<string, string>()
  const late: string[] = []
  for (let to = 0; to < TARGETS; to += 1) {
    const mine = records.filter((record) => record.target === to)
    let task = new StockWindowsTask(RULES)
    let stored = { snapshot: task.snapshot(), offset: 0 }
    const lateByOffset = new Map<number, string>()
    const run = (from: number, until: number) => {
      for (let offset = from; offset < until; offset += 1) {
        const { headers, text } = mine[offset]!
        task.onRecord(offset, decodeShuffled(encodeShuffled(headers))!, text, text.length, true)
        for (const { output, key, value } of task.drain()) {
          if (output === 'alertes') alerts.set(key!, withoutRevision(value))
          if (output === 'tardans') lateByOffset.set(offset, `${key} ${value}`)
        }
      }
    }
    for (let offset = 0; offset < mine.length; offset += 1) {
      run(offset, offset + 1)
      if (crash === null || offset % crash.every !== crash.every - 1) continue
      // A crash: back to the checkpoint, and through what came after it again. Then the next checkpoint.
      task = new StockWindowsTask(RULES)
      task.restore(stored.snapshot)
      run(stored.offset, offset + 1)
      stored = { snapshot: task.snapshot(), offset: offset + 1 }
    }
    late.push(...lateByOffset.values())
  }
  return { alerts: new Map([...alerts].sort()), late: late.sort() }
}

function runMerged(lists: readonly { offset: number; arrivalMs: number; text: string }[][], choices: readonly number[]): Results {
  const host = createStockHost({ ...RULES, delayMs: 1, allowedLatenessMs: 1 }, lists.length)
  const tagged = lists.map((list, partition) => list.map((record) => ({ partition, ...record })))
  const alerts = new Map<string, string>()
  const late: string[] = []
  for (const { partition, offset, arrivalMs, text } of interleave(tagged, choices)) {
    host.onRecord(partition, offset, arrivalMs, null, text, text.length, true)
    for (const { output, key, value } of host.drain()) {
      if (output === 'alertes') alerts.set(key!, withoutRevision(value))
      if (output === 'tardans') late.push(`${key} ${value}`)
    }
  }
  return { alerts: new Map([...alerts].sort()), late: late.sort() }
}

const sources = fc.array(fc.array(step, { maxLength: 40 }), { minLength: 1, maxLength: 4 })
const choices = fc.array(fc.nat(5), { minLength: 1, maxLength: 30 })

describe('shuffle and windows together', () => {
  it('give the alerts and late events of the merged log, however sources interleave', () => {
    fc.assert(
      fc.property(sources, choices, choices, (steps, one, other) => {
        const runs = steps.map((list, partition) => shuffle(partition, list, steps.length))
        const expected = runMerged(
          runs.map((run) => run.merged),
          one,
        )
        const written = interleave(
          runs.map((run) => run.written),
          other,
        )
        expect(runTargets(written)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('give the same after a crash anywhere, and when the shuffle writes events again', () => {
    fc.assert(
      fc.property(sources, choices, fc.integer({ min: 1, max: 9 }), fc.nat(30), (steps, order, every, again) => {
        const runs = steps.map((list, partition) => shuffle(partition, list, steps.length))
        const once = interleave(
          runs.map((run) => run.written),
          order,
        )
        const expected = runTargets(once)
        expect(runTargets(once, { every })).toEqual(expected)
        const repeated = interleave(
          runs.map(({ written }) => [
            ...written.slice(0, again),
            ...written.filter((record, index) => index < again && record.headers.number === null),
            ...written.slice(again),
          ]),
          order,
        )
        expect(runTargets(repeated)).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })
})
