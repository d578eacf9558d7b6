import { DECODERS } from './decoders/table.ts'

const PARTITIONS = /^\d{1,5}(-\d{1,5})?$/
const MAX_PARTITION = 65_535

/** Partitions of text like `0-2,5`, ascending and each once; null when it is no such text, or names a partition twice. */
export function parsePartitions(text: string): readonly number[] | null {
  const found: number[] = []
  for (const part of text.split(',').map((word) => word.trim())) {
    if (!PARTITIONS.test(part)) return null
    const [first = 0, last = first] = part.split('-').map(Number)
    if (last < first || last > MAX_PARTITION) return null
    for (let partition = first; partition <= last; partition += 1) found.push(partition)
  }
  return new Set(found).size === found.length ? found.sort((a, b) => a - b) : null
}

/** What is wrong with a topic filter for a share of the fleet, null when nothing is. */
export function filterFault(filter: string): string | null {
  const levels = filter.split('/')
  const wildcards = levels.every((level, at) => level === '+' || (level === '#' && at === levels.length - 1) || !/[+#]/.test(level))
  if (filter === '' || !wildcards) return `"${filter}" is no MQTT topic filter`
  if (levels[0] === '$share') return `"${filter}": a shared subscription changes the order of a van's messages`
  const known = Object.values(DECODERS).some((decoder) => decoder.owns(levels))
  return known ? null : `"${filter}" brings messages of no known format`
}

/** The part of `inForce` that is this bridge's own. Throws when the topic does not have one of the partitions. */
export function ownPartitions<State>(inForce: ReadonlyMap<number, State>, own: readonly number[] | undefined): Map<number, State> {
  if (own === undefined) return new Map(inForce)
  const missing = own.filter((partition) => !inForce.has(partition))
  if (missing.length > 0) {
    throw new Error(`KM0_BRIDGE_PARTITIONS names ${missing.join(', ')}, but the topic of positions has ${inForce.size} partitions, from 0`)
  }
  return new Map([...inForce].filter(([partition]) => own.includes(partition)))
}
