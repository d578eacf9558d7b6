import { type SignalValue, TOPICS } from '@km0/contracts'
import type { Pool } from '@km0/serving/pool'
import type { Log } from '@km0/transport'
import type { Check } from './check.ts'
import { compareStored, rowsOf } from './stored.ts'

/** Each silence of a van that the log tells of stands in the history once, with the end that the log has. */
export async function judgeSilences(log: Log, pool: Pool): Promise<Check> {
  const states = new Map<string, SignalValue[]>()
  for await (const { records } of log.readTopic({ topic: TOPICS.panel.name })) {
    for (const { key, value } of records) {
      if (!key?.startsWith('senyal|') || value === null) continue
      const state = JSON.parse(value.toString('utf8')) as SignalValue
      states.set(state.repartidor, [...(states.get(state.repartidor) ?? []), state])
    }
  }
  const silences = new Map<string, string>()
  for (const [van, told] of states) {
    for (const { estat, des_de_ms } of told) {
      if (estat !== 'sense-senyal') continue
      const returns = told.filter((other) => other.estat === 'amb-senyal' && other.des_de_ms > des_de_ms).map((other) => other.des_de_ms)
      silences.set(`${van}|${des_de_ms}`, returns.length === 0 ? 'lasts' : String(Math.min(...returns)))
    }
  }
  return compareStored('each silence of a van is told once', silences, () =>
    rowsOf(pool, "select concat(van, '|', since_ms) as key, coalesce(ended_ms::text, 'lasts') as value from km0.no_signal_episode"),
  )
}
