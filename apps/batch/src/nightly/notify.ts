import type { NightRun } from '@km0/contracts'

const TIMEOUT_MS = 10_000

/** Tells a person of a night over a webhook: POST of one JSON object. Rejects when it was not taken; it is then tried again. */
export async function notify(webhookUrl: string, news: 'late' | 'held' | 'failed', run: NightRun): Promise<void> {
  const response = await fetch(webhookUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      kind: 'nightly',
      news,
      day: new Date(run.dayMs + 12 * 3_600_000).toISOString().slice(0, 10),
      state: run.state,
      detail: run.detail,
      versions: run.tasks.flatMap(({ version }) => (version === null ? [] : [version])),
    }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`the webhook answered ${response.status}`)
}
