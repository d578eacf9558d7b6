import { setTimeout as sleep } from 'node:timers/promises'
import { type PanelSnapshot, TOPICS } from '@km0/contracts'
import type { Log } from '@km0/transport'
import type { Watched } from '../flow.ts'
import { type Check, firstOf } from './check.ts'

const SHOWN_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 1_000
const ASK_WITHIN_MS = 10_000

/** The panel shows of each van the newest point of the log, once the fleet has ended. */
export async function judgePanel(log: Log, platform: Pick<Watched, 'askPanel'>): Promise<Check> {
  const newest = new Map<string, number>()
  for await (const { records } of log.readTopic({ topic: TOPICS.live.name })) {
    for (const { key, value } of records) {
      if (key !== null && value !== null) newest.set(key, (JSON.parse(value.toString('utf8')) as { data_ms: number }).data_ms)
    }
  }
  const deadlineMs = performance.now() + SHOWN_WITHIN_MS
  let wrong = await differences(newest, platform)
  while (wrong.length > 0 && performance.now() < deadlineMs) {
    await sleep(LOOK_EVERY_MS)
    wrong = await differences(newest, platform)
  }
  return {
    name: 'the panel shows the newest point of each van',
    passed: wrong.length === 0 && newest.size > 0,
    detail: `${newest.size} vans${wrong.length === 0 ? '' : `, wrong ${wrong.length}: ${firstOf(wrong)}`}`,
  }
}

async function differences(newest: ReadonlyMap<string, number>, platform: Pick<Watched, 'askPanel'>): Promise<string[]> {
  const panel = (await (await platform.askPanel('api/panel', ASK_WITHIN_MS)).json()) as PanelSnapshot
  const shown = new Map(panel.points.map(({ van, eventMs }) => [van, eventMs]))
  return [...newest]
    .filter(([van, eventMs]) => shown.get(van) !== eventMs)
    .map(([van, eventMs]) => `${van} at ${shown.get(van)}, not ${eventMs}`)
}
