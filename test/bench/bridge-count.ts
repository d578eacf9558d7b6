import { openLog } from '@km0/transport'

/** What a topic holds of a load, told by the van and number that each message carries. */
export interface Counted {
  readonly distinct: number
  readonly duplicates: number
  /** Messages behind a later one of the same van. */
  readonly disorder: number
  /** Messages whose key is not their van. */
  readonly wrongKey: number
  /** From the publisher's clock to the broker's LogAppendTime, ascending, in ms; both are this machine's. */
  readonly latenciesMs: readonly number[]
  readonly lastAppendMs: number
}

const MESSAGE = /"repartidor":"([^"]+)".*"data_ms":(\d+),"n":(\d+)/

/** Reads a whole topic. Messages of vans that do not begin with `prefix` are left out (probes, heartbeats). */
export async function countTopic(brokers: string, topic: string, prefix: string): Promise<Counted> {
  const log = openLog({ brokers: [brokers], clientId: 'recompte' })
  const seen = new Set<string>()
  const newest = new Map<string, number>()
  const latenciesMs: number[] = []
  let [duplicates, disorder, wrongKey, lastAppendMs] = [0, 0, 0, 0]
  for await (const { records } of log.readTopic({ topic })) {
    for (const { key, value, timestampMs } of records) {
      const [, van = '', sentMs, number] = MESSAGE.exec(value?.toString() ?? '') ?? []
      if (!van.startsWith(prefix)) continue
      if (key !== van) wrongKey += 1
      lastAppendMs = Math.max(lastAppendMs, timestampMs)
      const id = `${van}/${number}`
      if (seen.has(id)) {
        duplicates += 1
        continue
      }
      seen.add(id)
      if (Number(number) < (newest.get(van) ?? 0)) disorder += 1
      else newest.set(van, Number(number))
      latenciesMs.push(timestampMs - Number(sentMs))
    }
  }
  latenciesMs.sort((a, b) => a - b)
  return { distinct: seen.size, duplicates, disorder, wrongKey, latenciesMs, lastAppendMs }
}

/** The value below which a share of ascending values lies. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN
}
