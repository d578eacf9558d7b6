import { setTimeout as sleep } from 'node:timers/promises'
import type { PanelSnapshot } from '@km0/contracts'
import type { ChaosPlatform } from './platform.ts'

const LOOK_EVERY_MS = 500
const ASK_WITHIN_MS = 3_000
const WELL_WITHIN_MS = 120_000
const EMPTY_WITHIN_MS = 120_000

/** Waits until the fleet has lived its past. Rejects after two minutes. */
export async function untilPresent(platform: ChaosPlatform): Promise<void> {
  const deadlineMs = performance.now() + WELL_WITHIN_MS
  for (;;) {
    const response = await platform.askPanel('api/panel', ASK_WITHIN_MS)
    if (((await response.json()) as PanelSnapshot).clock === 'machine') return
    if (performance.now() > deadlineMs) throw new Error(`the fleet is not at the present after ${WELL_WITHIN_MS / 1000} s`)
    await sleep(LOOK_EVERY_MS)
  }
}

/** Waits until every program says that all is well. Resolves with what is wrong after two minutes, null when nothing is. */
export async function untilWell(platform: ChaosPlatform): Promise<string | null> {
  const deadlineMs = performance.now() + WELL_WITHIN_MS
  for (;;) {
    const wrong = await platform
      .askPanel('api/health', ASK_WITHIN_MS)
      .then(async (response) => {
        const { status, parts = {} } = (await response.json()) as {
          status: string
          parts?: Record<string, { status: string; detail?: string }>
        }
        const bad = Object.entries(parts).filter(([, part]) => part.status !== 'ok')
        return status === 'ok' ? null : bad.map(([name, part]) => `${name} ${part.status} (${part.detail ?? ''})`).join(', ')
      })
      .catch((error: Error) => error.message)
    if (wrong === null || performance.now() > deadlineMs) return wrong
    await sleep(LOOK_EVERY_MS)
  }
}

/** Waits until the vans have no message under way and the bridge has written all that it has. Resolves with what is left, null when nothing is. */
export async function untilEmpty(platform: ChaosPlatform, stillPublishing: boolean): Promise<string | null> {
  const deadlineMs = performance.now() + EMPTY_WITHIN_MS
  for (;;) {
    const left = await Promise.all([
      stillPublishing
        ? metric(platform, 'fleet', 'km0_fleet_behind_seconds').then((seconds) => (seconds > 5 ? [`the fleet is ${seconds} s behind`] : []))
        : [],
      stillPublishing
        ? []
        : metric(platform, 'bridge', 'km0_bridge_queue_messages').then((count) =>
            count > 0 ? [`${count} messages wait in the bridge`] : [],
          ),
    ]).catch((error: Error) => [[error.message]])
    const text = left.flat().join(', ')
    if (text === '' || performance.now() > deadlineMs) return text === '' ? null : text
    await sleep(LOOK_EVERY_MS)
  }
}

async function metric(platform: ChaosPlatform, part: string, name: string): Promise<number> {
  const response = await fetch(new URL('/metrics', platform.healthUrlOf(part)), { signal: AbortSignal.timeout(ASK_WITHIN_MS) })
  const sample = (await response.text()).split('\n').find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  if (sample === undefined) throw new Error(`${part} has no ${name}`)
  return Number(sample.split(' ').at(-1))
}
