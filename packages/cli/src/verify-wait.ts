import { TOPICS } from '@km0/contracts'
import type { Serving } from '@km0/serving'
import type { Log } from '@km0/transport'

const LOOK_EVERY_MS = 500

/** What is not applied yet; empty when everything is. */
type Missing = string

/**
 * Waits until the windowing job has applied the log up to `until`, and serving has stored all that the job wrote. Resolves with the epoch
 * in force, or with what was still missing after `timeoutMs`.
 */
export async function waitUntilApplied(
  log: Log,
  serving: Serving,
  until: ReadonlyMap<number, number>,
  timeoutMs: number,
): Promise<{ readonly epoch: number } | { readonly missing: Missing }> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const { missing, epoch } = await lookOnce(log, serving, until)
    if (missing === '') return { epoch }
    if (performance.now() >= deadlineMs) return { missing }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

async function lookOnce(log: Log, serving: Serving, until: ReadonlyMap<number, number>): Promise<{ missing: Missing; epoch: number }> {
  const marks = await serving.readMarks()
  const epoch = Math.max(0, ...[...marks.values()].map((mark) => mark.epoch))
  const behind = [...until].filter(([partition, end]) => {
    const mark = marks.get(partition)
    return end > 0 && (mark === undefined || mark.epoch < epoch || mark.nextOffset < end)
  })
  if (behind.length > 0) {
    const texts = behind.map(([partition, end]) => `partition ${partition} at ${marks.get(partition)?.nextOffset ?? 0} of ${end}`)
    return { missing: `the windowing job has not said that it is through: ${texts.join(', ')}`, epoch }
  }
  // A mark is written after the results before it: what serving must have is in the panel topic by now.
  const ends = await log.endOffsets(TOPICS.panel.name)
  const stored = await serving.nextOffsets(TOPICS.panel.name)
  const waiting = [...ends].filter(([partition, end]) => (stored.get(partition) ?? 0) < end)
  if (waiting.length === 0) return { missing: '', epoch }
  const texts = waiting.map(([partition, end]) => `partition ${partition} at ${stored.get(partition) ?? 0} of ${end}`)
  return { missing: `results wait to be stored: ${texts.join(', ')}`, epoch }
}
