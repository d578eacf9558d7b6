// What the panel promises for a whole shift: lines that break, machines that sleep, memory. Minutes long, so no part of `npm test`: `pnpm prove:panel`.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { memory } from '../bench/panel-page.ts'
import { LineBetween } from '../browser/line-between.ts'
import { DASHBOARD, LABELS, startPanelUnderTest } from '../browser/panel-under-test.ts'
import { type SimulatedOptions, SimulatedSource } from '../browser/simulated-source.ts'
import { tinyTiles } from '../browser/tiny-tiles.ts'

const ARTEFACTS = join(import.meta.dirname, '../artefacts/panel')
mkdirSync(ARTEFACTS, { recursive: true })

/** Back within this, on a machine that has nothing else to do; on a busy one the figure is told, and only a multiple of it is a fault. */
const BACK_WITHIN_MS = 2_000
const BUSY = 5
const AWAY_MS = 30_000
const WAIT = { timeout: 60_000 }
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`no browser can be started, so nothing is proved in one: ${String(error)}`)
}
if (!existsSync(join(DASHBOARD, '.next/BUILD_ID'))) throw new Error('the pages are not built: node infra/build.mjs --pages')

describe.skipIf(browser === null)('a shift', () => {
  const closing: (() => Promise<void>)[] = []
  beforeAll(() => undefined)
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  afterAll(() => browser?.close())

  async function serve(options: Partial<SimulatedOptions>, more: Parameters<typeof startPanelUnderTest>[1] = {}) {
    const source = new SimulatedSource({ labelsFile: LABELS, vans: 40, ...options })
    const panel = await startPanelUnderTest(source, more)
    closing.push(() => panel.close())
    return { source, panel }
  }
  async function openPage(port: number, path = '/'): Promise<Page> {
    const url = `http://127.0.0.1:${port}`
    const context = await (browser as Browser).newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    closing.push(() => context.close())
    await context.addCookies([{ name: 'km0_locale', value: 'en', url }])
    const page = await context.newPage()
    await page.goto(`${url}${path}`)
    await page.locator('[data-status="ready"]').waitFor(WAIT)
    return page
  }
  const silent = (page: Page, van: string) => page.locator(`li[data-van="${van}"][data-band]`)
  const returned = (page: Page) => page.locator('[data-returned]')
  async function right(page: Page, what: string, begin: () => unknown): Promise<void> {
    const beganMs = performance.now()
    await begin()
    await silent(page, 'furgoneta-7').waitFor(WAIT)
    await silent(page, 'furgoneta-3').waitFor({ state: 'detached', ...WAIT })
    const tookMs = performance.now() - beganMs
    console.info(`${what}: right again after ${Math.round(tookMs)} ms`)
    expect(tookMs).toBeLessThan(BACK_WITHIN_MS * BUSY)
  }
  /** furgoneta-3 is silent, furgoneta-7 will be in half a minute. */
  const SILENT = { 3: 20, 7: 2.6 }
  const meanwhile = (source: SimulatedSource) => source.wake('furgoneta-3')
  /** Each of the two is told once. */
  async function toldOnce(page: Page): Promise<void> {
    expect(await silent(page, 'furgoneta-7').count()).toBe(1)
    expect(await returned(page).count()).toBeLessThanOrEqual(1)
  }

  test('a socket that is cut for 30 s', async () => {
    const { source, panel } = await serve({ silent: SILENT })
    const line = await LineBetween.open(panel.port)
    closing.push(() => line.close())
    const page = await openPage(line.port)
    await silent(page, 'furgoneta-3').waitFor(WAIT)
    line.cut()
    await page.getByText('The line to the panel is cut').waitFor(WAIT)
    meanwhile(source)
    await sleep(AWAY_MS)
    await right(page, 'a cut of 30 s', () => line.mend())
    await toldOnce(page)
  })

  test('a line that is dead for 30 s without saying so', async () => {
    const { source, panel } = await serve({ silent: SILENT })
    const line = await LineBetween.open(panel.port)
    closing.push(() => line.close())
    const page = await openPage(line.port)
    await silent(page, 'furgoneta-3').waitFor(WAIT)
    line.die()
    meanwhile(source)
    // Nobody tells the browser; it notices by itself.
    await page.getByText('The line to the panel is cut').waitFor(WAIT)
    await sleep(AWAY_MS)
    // What waits for an answer over the dead line must run out first.
    await right(page, 'a dead line', () => line.mend())
    await toldOnce(page)
  })

  test('a tab that slept for 30 s', async () => {
    const { source, panel } = await serve({ silent: SILENT })
    const page = await openPage(panel.port)
    await silent(page, 'furgoneta-3').waitFor(WAIT)
    const session = await page.context().newCDPSession(page)
    await session.send('Page.setWebLifecycleState', { state: 'frozen' })
    meanwhile(source)
    await sleep(AWAY_MS)
    await right(page, 'a sleep of 30 s', () => session.send('Page.setWebLifecycleState', { state: 'active' }))
    await toldOnce(page)
  })

  test('a server that is begun anew ten times leaves one connection, no listener more, and the truth', async () => {
    const first = await serve({ silent: { 3: 20 } })
    const { port } = first.panel
    const page = await openPage(port)
    await silent(page, 'furgoneta-3').waitFor(WAIT)
    await sleep(2_000)
    const before = await memory(page)
    let current = first.panel
    for (let round = 1; round <= 10; round += 1) {
      await current.close()
      const van = 3 + round
      current = (await serve({ silent: { [van]: 20 } }, { port })).panel
      await silent(page, `furgoneta-${van}`).waitFor(WAIT)
      await silent(page, `furgoneta-${van - 1}`).waitFor({ state: 'detached', ...WAIT })
    }
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(metrics).toMatch(/km0_panel_browsers 1\n/)
    const after = await memory(page)
    console.info(`ten restarts: ${JSON.stringify({ before, after })}`)
    expect(after.listeners).toBeLessThan(before.listeners * 1.2)
    expect(after.heapMb).toBeLessThan(before.heapMb + 12)
  })

  test('a thousand seconds of 140 vans, ten updates each, leave memory flat and make no element (D05, D06)', async () => {
    const faster = 10
    const beganMs = Date.now()
    const nowMs = () => beganMs + (Date.now() - beganMs) * faster
    const { panel } = await serve(
      { vans: 140, silent: { 37: 20 }, everySecond: true, tickMs: 1_000 / faster, nowMs },
      { nowMs, tickMs: 1_000 / faster, batchMs: 100 / faster },
    )
    const page = await openPage(panel.port, '/?layers=singles')
    const elements = () => page.evaluate(() => document.querySelectorAll('.maplibregl-map *').length)
    await sleep(20_000)
    const [before, count] = [await memory(page), await elements()]
    await sleep(100_000)
    const after = await memory(page)
    console.info(`a thousand seconds: ${JSON.stringify({ before, after })}`)
    expect(after.heapMb).toBeLessThan(before.heapMb + 10)
    expect(after.listeners).toBeLessThan(before.listeners * 1.1)
    expect(await elements()).toBe(count)
  })

  test("a customer's tiles are drawn, in parts, by the panel itself", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'km0-tiles-'))
    closing.push(async () => rmSync(folder, { recursive: true }))
    const tiles = join(folder, 'tiny.pmtiles')
    writeFileSync(tiles, tinyTiles())
    process.env.KM0_MAP_PMTILES = tiles
    closing.push(async () => void delete process.env.KM0_MAP_PMTILES)
    const { panel } = await serve({}, { tiles })
    const context = await (browser as Browser).newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    closing.push(() => context.close())
    const page = await context.newPage()
    const parts: number[] = []
    const errors: string[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('.pmtiles')) parts.push(response.status())
    })
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    await page.goto(`http://127.0.0.1:${panel.port}/`)
    await page.locator('[data-status="ready"]').waitFor(WAIT)
    await expect.poll(() => parts.length, WAIT).toBeGreaterThan(1)
    await page
      .getByText('OpenStreetMap')
      .first()
      .waitFor({ state: 'attached', ...WAIT })
    await sleep(2_000)
    await page.screenshot({ path: join(ARTEFACTS, 'own-tiles.png') })
    expect(new Set(parts)).toEqual(new Set([206]))
    expect(errors).toEqual([])
  })
})
