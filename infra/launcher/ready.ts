import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 250
const REQUEST_TIMEOUT_MS = 3_000

interface Report {
  readonly status?: string
  readonly ready?: boolean
  readonly parts?: Readonly<Record<string, { readonly status: string; readonly detail?: string }>>
}

/** What a health address says; null while nobody answers there. */
async function ask(url: string): Promise<Report | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
    return (await response.json()) as Report
  } catch {
    return null
  }
}

/** In words why a report is not good yet; null when it is. `needsWork`: the part must also have done its work once. */
export function whatIsMissing(report: Report | null, needsWork: boolean): string | null {
  if (report === null) return 'does not answer yet'
  const bad = Object.entries(report.parts ?? {}).filter(([, part]) => part.status !== 'ok')
  const said = bad.map(([name, part]) => `${name} ${part.status}${part.detail ? ` (${part.detail})` : ''}`).join(', ')
  if (report.status !== 'ok') return said || `is ${report.status}`
  return needsWork && report.ready !== true ? 'waits for the first position' : null
}

/**
 * Resolves when the address says that all is well (and, with `needsWork`, that work was done once). Rejects when `signal` is aborted.
 * `onWaiting` hears now and then what is still missing.
 */
export async function untilWell(
  url: string,
  options: {
    readonly needsWork: boolean
    readonly signal: AbortSignal
    readonly sayEveryMs: number
    readonly onWaiting: (what: string) => void
  },
): Promise<void> {
  let saidMs = performance.now()
  for (;;) {
    const missing = whatIsMissing(await ask(url), options.needsWork)
    if (missing === null) return
    if (performance.now() - saidMs >= options.sayEveryMs) {
      saidMs = performance.now()
      options.onWaiting(missing)
    }
    await sleep(POLL_MS, undefined, { signal: options.signal })
  }
}

/** Resolves when the address answers and is not down. Rejects when `signal` is aborted. */
export async function untilUp(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const report = await ask(url)
    if (report !== null && report.status !== 'down') return
    await sleep(POLL_MS, undefined, { signal })
  }
}
