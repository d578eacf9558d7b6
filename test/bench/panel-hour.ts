import { launchBrowser } from '@km0/testkit/browser'
import { LABELS, startPanelUnderTest } from '../browser/panel-under-test.ts'
import { SimulatedSource } from '../browser/simulated-source.ts'
import { memory } from './panel-page.ts'

/** An hour has as many deltas, and ten times as many batches. */
const SECONDS = 3_600
const LOOKS = 6
const FASTER = 15

/**
 * An hour of 140 vans at 1 Hz in the page, fifteen times as fast: every second of it is a delta, a render and ten batches, as in a real hour. Memory
 * after the collector has run, every ten minutes.
 */
export async function measureHour(): Promise<string[]> {
  const beganMs = Date.now()
  const nowMs = () => beganMs + (Date.now() - beganMs) * FASTER
  const source = new SimulatedSource({
    labelsFile: LABELS,
    vans: 140,
    silent: { 37: 20, 95: 5 },
    nowMs,
    everySecond: true,
    tickMs: 1_000 / FASTER,
  })
  const panel = await startPanelUnderTest(source, { nowMs, tickMs: 1_000 / FASTER, batchMs: 100 / FASTER })
  const browser = await launchBrowser()
  try {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
    await page.goto(`http://127.0.0.1:${panel.port}/?layers=singles&van=furgoneta-3`)
    await page.locator('[data-status="ready"]').waitFor({ timeout: 60_000 })
    const lines = ['| minute | heap MB | DOM nodes | listeners |', '|---|---|---|---|']
    for (let look = 0; look <= LOOKS; look += 1) {
      if (look > 0) await new Promise((resolve) => setTimeout(resolve, (SECONDS / LOOKS / FASTER) * 1_000))
      const { heapMb, nodes, listeners } = await memory(page)
      lines.push(`| ${(look * SECONDS) / LOOKS / 60} | ${heapMb} | ${nodes} | ${listeners} |`)
    }
    return lines
  } finally {
    await browser.close()
    await panel.close()
  }
}
