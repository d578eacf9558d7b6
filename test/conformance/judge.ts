import { TOPICS } from '@km0/contracts'
import type { Log } from '@km0/transport'
import type { Case, Plan, Row } from './logs.ts'

export const OUTPUTS: Readonly<Record<string, string>> = {
  [TOPICS.panel.name]: 'panell',
  [TOPICS.late.name]: 'tardans',
  [TOPICS.deadLetters.name]: 'rebutjats',
  [TOPICS.live.name]: 'viu',
  [TOPICS.stockAlerts.name]: 'alertes',
  [TOPICS.stockLate.name]: 'estoc-tardans',
  [TOPICS.stockDeadLetters.name]: 'estoc-rebutjats',
}

/** Members in one order. */
function sorted(json: string, without: string | null = null): string {
  return JSON.stringify(JSON.parse(json), (name, value: unknown) => {
    if (name === without) return undefined
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** Rows of positions by output, source partition and key, the last of each; what is late or refused by the record that caused it. */
function foldPositions(rows: readonly Row[], { partitions, live }: Case): Map<string, string> {
  const mine = new Set(partitions)
  const folded = new Map<string, string>()
  for (const { output, key, value, partition, offset } of rows) {
    if (!mine.has(partition) || (output === 'viu' && !live)) continue
    const name = output === 'panell' || output === 'viu' ? key : `${key} ${offset}`
    folded.set(`${output} ${partition} ${name}`, sorted(value))
  }
  return folded
}

/**
 * Alerts by key, the last of each without its revision; of late and refused events how often each was told, a repetition once. `again`: the stock
 * was shuffled anew into another topic, so that what is told again has another cause there; then only that each was told.
 */
function foldStock(rows: readonly Row[], again: boolean): Map<string, string> {
  const folded = new Map<string, string>()
  const causes = new Map<string, Set<string>>()
  for (const { output, key, value, partition, offset } of rows) {
    if (output === 'alertes') folded.set(`${output} ${key}`, sorted(value, 'revisio'))
    else {
      const name = `${output.replace('estoc-', '')} ${key} ${sorted(value)}`
      causes.set(name, (causes.get(name) ?? new Set()).add(`${partition} ${offset}`))
    }
  }
  for (const [name, of] of causes) folded.set(name, again ? 'told' : `${of.size} times`)
  return folded
}

function difference(got: ReadonlyMap<string, string>, want: ReadonlyMap<string, string>): string | null {
  let count = 0
  let first = ''
  for (const name of new Set([...got.keys(), ...want.keys()])) {
    if (got.get(name) === want.get(name)) continue
    count += 1
    first ||= `${name}\n    got   ${got.get(name) ?? 'nothing'}\n    right ${want.get(name) ?? 'nothing'}`
  }
  return count === 0 ? null : `${count} of ${want.size} rows differ, first ${first}`
}

/** Reads what a host has written, only what is new at each call. */
export class Results {
  readonly rows: Row[] = []
  readonly #log: Log
  readonly #next = new Map<string, Map<number, number>>()

  constructor(log: Log) {
    this.#log = log
  }

  async read(): Promise<void> {
    for (const [topic, output] of Object.entries(OUTPUTS)) {
      const next = this.#next.get(topic) ?? new Map<number, number>()
      this.#next.set(topic, next)
      const ends = await this.#log.endOffsets(topic)
      if ([...ends].every(([partition, end]) => (next.get(partition) ?? 0) >= end)) continue
      for await (const { partition, records } of this.#log.readTopic({ topic, from: startsOf(ends, next), until: ends })) {
        for (const { offset, key, value, headers } of records) {
          if (headers.particio_origen !== undefined)
            this.rows.push({
              output,
              key,
              value: String(value),
              partition: Number(headers.particio_origen),
              offset: Number(headers.offset_origen),
            })
          next.set(partition, Number(offset) + 1)
        }
      }
      for (const [partition, end] of ends) next.set(partition, Math.max(end, next.get(partition) ?? 0))
    }
  }
}

const startsOf = (ends: ReadonlyMap<number, number>, next: ReadonlyMap<number, number>) =>
  new Map([...ends.keys()].map((partition) => [partition, next.get(partition) ?? 0]))

export interface Verdict {
  readonly name: string
  /** null when every row is right. */
  readonly difference: string | null
}

const isOfStock = ({ output }: Row) => output === 'alertes' || output.startsWith('estoc-')

export function judge(plan: Plan, rows: readonly Row[], again = false): Verdict[] {
  const positions = rows.filter((row) => !isOfStock(row))
  const verdicts = plan.cases.map((one) => ({
    name: one.name,
    difference: difference(foldPositions(positions, one), foldPositions(one.want, one)),
  }))
  const got = foldStock(rows.filter(isOfStock), again)
  return [...verdicts, { name: `${plan.stockLogs} random logs of stock`, difference: difference(got, foldStock(plan.stockWant, again)) }]
}
