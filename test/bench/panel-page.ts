import type { Page } from 'playwright-core'

/** What a page of the panel saw of the vans that were drawn. Times in ms. */
export interface Seen {
  /** From a position's own time to the frame after the one that drew it. */
  readonly publishToPaint: readonly number[]
  /** From the server's sending of a batch to that frame. */
  readonly serverToPaint: readonly number[]
  readonly longTasks: readonly number[]
  /** Between two frames. */
  readonly frames: readonly number[]
  /** Where each van was drawn last. */
  readonly drawn: Readonly<Record<string, Drawn>>
}

interface Drawn {
  readonly eventMs: number
  readonly lat: number
  readonly lon: number
}

interface Probe {
  publishToPaint: number[]
  serverToPaint: number[]
  longTasks: number[]
  frames: number[]
  drawn: Record<string, Drawn>
}
type ProbedWindow = Window & { km0Probe: Probe }

/** Before the page loads: begins to write down what it draws. */
export async function probe(page: Page): Promise<void> {
  // What tsx makes of a function with a name, wherever it runs.
  await page.addInitScript('globalThis.__name ??= (named) => named')
  await page.addInitScript(() => {
    const seen: Probe = { publishToPaint: [], serverToPaint: [], longTasks: [], frames: [], drawn: {} }
    Object.assign(window, { km0Probe: seen })
    new PerformanceObserver((list) => seen.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({
      type: 'longtask',
    })
    let lastMs = 0
    const frame = (nowMs: number) => {
      if (lastMs > 0) seen.frames.push(nowMs - lastMs)
      lastMs = nowMs
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
    window.addEventListener('vansdrawn', (event) => {
      const { batches } = (event as CustomEvent<{ batches: { sentMs: number; moves: (Drawn & { van: string })[] }[] }>).detail
      requestAnimationFrame(() => {
        const nowMs = performance.timeOrigin + performance.now()
        for (const { sentMs, moves } of batches) {
          seen.serverToPaint.push(nowMs - sentMs)
          for (const { van, eventMs, lat, lon } of moves) {
            seen.publishToPaint.push(nowMs - eventMs)
            seen.drawn[van] = { eventMs, lat, lon }
          }
        }
      })
    })
  })
}

/** What was written down since the last call. */
export async function takeSeen(page: Page): Promise<Seen> {
  return page.evaluate(() => {
    const { km0Probe } = window as unknown as ProbedWindow
    const seen = { ...km0Probe }
    Object.assign(km0Probe, { publishToPaint: [], serverToPaint: [], longTasks: [], frames: [], drawn: {} })
    return seen
  })
}

/** JavaScript that the first load brings, in kilobytes as they travel and unpacked. */
export async function firstLoadKb(page: Page): Promise<{ readonly zipped: number; readonly unpacked: number }> {
  const [zipped, unpacked] = await page.evaluate(() => {
    const scripts = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter(({ name }) =>
      /\.m?js($|\?)/.test(name),
    )
    const sum = (of: (entry: PerformanceResourceTiming) => number) => scripts.reduce((total, entry) => total + of(entry), 0)
    return [sum(({ encodedBodySize }) => encodedBodySize), sum(({ decodedBodySize }) => decodedBodySize)]
  })
  return { zipped: Math.round((zipped ?? 0) / 1_024), unpacked: Math.round((unpacked ?? 0) / 1_024) }
}

export interface Memory {
  readonly heapMb: number
  readonly nodes: number
  readonly listeners: number
}

/** After the collector has run. */
export async function memory(page: Page): Promise<Memory> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  await session.detach()
  const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return { heapMb: Number((of('JSHeapUsedSize') / 1_048_576).toFixed(1)), nodes: of('Nodes'), listeners: of('JSEventListeners') }
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
