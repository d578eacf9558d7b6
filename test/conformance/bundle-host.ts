import { TOPICS } from '@km0/contracts'
import { createPositions, createStockShuffle, createStockWindows } from '@km0/pipelines/engine/index'
import { OUTPUTS } from './judge.ts'
import { type Plan, type Row, STOCK_SOURCES } from './logs.ts'

const TARGETS = 6
const SHUFFLED = 'shuffled'
/** Records after which every object is taken down and put back from its snapshot. */
const RESTORE_EVERY = 400

type Emit = Parameters<typeof createPositions>[4]
const bytes = (text: string | null) => (text === null ? 0 : Buffer.byteLength(text))

/** What the functions of the bundle make of a plan in this process, without Kafka: the short form of `pnpm engine:check`. */
export function runBundle(plan: Plan): Row[] {
  const rows: Row[] = []
  const emit: Emit = (topic, _partition, key, value, _timestampMs, headers) => {
    const output = OUTPUTS[topic]
    if (output === undefined) return
    const named = Object.fromEntries(headers.split(';').map((pair) => pair.split('=')))
    rows.push({ output, key, value, partition: Number(named.particio_origen), offset: Number(named.offset_origen) })
  }
  const positions = new Map<number, ReturnType<typeof createPositions>>()
  const stock = stockOf(plan, emit)
  const next = new Map<string, number>()
  for (const [index, { topic, partition = 0, value, timestampMs = 0 }] of plan.records.entries()) {
    const text = value === null ? null : String(value)
    const offset = next.get(`${topic} ${partition}`) ?? 0
    next.set(`${topic} ${partition}`, offset + 1)
    if (topic === TOPICS.stockEvents.name) {
      stock.onRecord(partition, offset, timestampMs, text)
      continue
    }
    let engine = positions.get(partition) ?? createPositions(partition, 1, null, null, emit)
    if (index % RESTORE_EVERY === 0) {
      const restored = createPositions(partition, 1, null, null, emit)
      restored.restore(engine.snapshot(), engine.nextOffset)
      engine = restored
    }
    positions.set(partition, engine)
    engine.onRecord(offset, timestampMs, text, bytes(text), true)
    engine.flush()
  }
  stock.mark()
  return rows
}

function stockOf(plan: Plan, emit: Emit) {
  const windows = [...Array(TARGETS).keys()].map((target) => ({ task: createStockWindows(target, 1, null, emit), next: 0 }))
  const shuffle: Emit = (topic, partition, key, value, timestampMs, headers) => {
    if (topic !== SHUFFLED) return emit(topic, partition, key, value, timestampMs, headers)
    const target = partition >= 0 ? partition : [...(key ?? '')].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % TARGETS
    const to = windows[target]
    if (to === undefined) throw new Error(`there is no target ${target}`)
    to.task.onRecord(to.next, headers, value, bytes(value), true)
    to.next += 1
  }
  const shuffles = [...Array(STOCK_SOURCES).keys()].map((source) => createStockShuffle(source, 1, TARGETS, SHUFFLED, null, 1, shuffle))
  for (const one of shuffles) one.configure(STOCK_SOURCES, plan.records[0]?.timestampMs ?? 0)
  return {
    onRecord: (source: number, offset: number, timestampMs: number, text: string | null) =>
      shuffles[source]?.onRecord(offset, timestampMs, text, bytes(text), true),
    mark: () => {
      for (const one of shuffles) one.mark()
    },
  }
}
