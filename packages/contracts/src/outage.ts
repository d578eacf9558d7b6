import type { OutageCause, OutageView } from './panel.ts'
import type { OutageCauseValue, OutageValue } from './results.ts'
import { TOPICS } from './topics.ts'

/** How long a partition may be without a heartbeat before it counts as an outage of ours. */
export const DEFAULT_OUTAGE_AFTER_MS = 60_000

/** An outage as a record of the topic of marks, with its natural key. */
export function encodeOutage(value: OutageValue): { readonly topic: string; readonly key: string; readonly value: string } {
  return { topic: TOPICS.marks.name, key: `tall|${value.particio}|${value.inici_ms}`, value: JSON.stringify(value) }
}

const CAUSES: Readonly<Record<NonNullable<OutageCauseValue>, OutageCause>> = {
  pont: 'bridge',
  broker: 'broker',
  kafka: 'kafka',
  endarreriment: 'catching-up',
}

/** The cause as the panel and the store name it. */
export function outageCause(value: OutageCauseValue): OutageCause {
  return value === null ? 'unknown' : CAUSES[value]
}

export function outageView(value: OutageValue): OutageView {
  return { partition: value.particio, fromMs: value.inici_ms, toMs: value.fi_ms, cause: outageCause(value.causa) }
}
