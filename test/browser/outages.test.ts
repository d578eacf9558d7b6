import { existsSync, mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { violations, WCAG_AND_PRACTICE } from './accessibility.ts'
import { DASHBOARD, LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

/** Outages of ours on the panel, in a real browser on a made-up fleet: told once with their cause, and nobody is called silent for them. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/panel')

let browser: Browser | null = null
try {
  browser = await launchBrowser({ maps: false })
} catch (error) {
  console.warn(`no browser can be started, so outages are not tested in one: ${String(error)}`)
}
if (!existsSync(join(DASHBOARD, '.next/BUILD_ID'))) throw new Error('the pages are not built: node infra/build.mjs --pages')
mkdirSync(ARTEFACTS, { recursive: true })

const closing: (() => Promise<void>)[] = []
/** Health of programs, by path; one that is not here does not answer. */
const health = new Map<string, object>()
let programs: Server
let programsUrl: string

const says = (status: string, parts: Record<string, string> = {}) => ({
  status,
  parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, { status: part }])),
})
function allWell(): void {
  health.set('/bridge', says('ok', { mqtt: 'ok', kafka: 'ok' }))
  health.set('/stream-positions', says('ok', { group: 'ok' }))
}

interface Look {
  readonly width?: number
  readonly theme?: 'dark' | 'light'
  readonly locale?: 'ca' | 'es' | 'en'
}

/** Partition of a van: its number modulo 6. furgoneta-5 and -11 are of 5. */
async function open(look: Look = {}): Promise<{ page: Page; source: SimulatedSource; url: string }> {
  const silent = { 3: 20, 4: 8, 5: 1.2, 11: 1.2 }
  const source = new SimulatedSource({ labelsFile: LABELS, vans: 24, silent, battery: { 3: 9 } })
  const panel = await startPanelUnderTest(source, {
    programs: new Map(['bridge', 'stream-positions'].map((name) => [name, `${programsUrl}/${name}`])),
  })
  closing.push(() => panel.close())
  const url = `http://127.0.0.1:${panel.port}`
  const context = await (browser as Browser).newContext({ viewport: { width: look.width ?? 1440, height: 844 }, reducedMotion: 'reduce' })
  closing.push(() => context.close())
  await context.addCookies([
    { name: 'km0_theme', value: look.theme ?? 'dark', url },
    { name: 'km0_locale', value: look.locale ?? 'en', url },
  ])
  const page = await context.newPage()
  await page.goto(url)
  return { page, source, url }
}

/** A slow machine is no fault. */
const WAIT = { timeout: 60_000 }
const row = (page: Page, van: string) => page.locator(`li[data-van="${van}"]`)
const banner = (page: Page) => page.locator('[data-cause]')
const counter = (page: Page, name: string) => page.locator(`[data-counter="${name}"]`)

describe.skipIf(browser === null)('outages of ours', () => {
  beforeAll(async () => {
    programs = createServer((request, response) => {
      const report = health.get(request.url ?? '')
      if (report === undefined) request.socket.destroy()
      else response.end(JSON.stringify(report))
    })
    await new Promise<void>((resolve) => programs.listen(0, '127.0.0.1', resolve))
    programsUrl = `http://127.0.0.1:${(programs.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  afterAll(async () => {
    programs?.close()
    await browser?.close()
  })

  test('are told once, each with its cause, and nobody is called silent for them', async () => {
    allWell()
    const { page, source } = await open()
    await row(page, 'furgoneta-3').waitFor()
    expect(await counter(page, 'no-signal').textContent()).toBe('2')
    source.stopFeed(100_000)
    const causes: readonly (readonly [words: string, begin: () => void, cause: string])[] = [
      ['what vans had saved up', () => undefined, 'catching-up'],
      ['bridge down', () => health.delete('/bridge'), 'bridge'],
      ['MQTT broker unreachable', () => health.set('/bridge', says('down', { mqtt: 'down' })), 'broker'],
      ['stream job down', () => health.delete('/stream-positions'), 'stream'],
      ['stream job behind', () => Object.assign(source, { jobIsBehind: true }), 'behind'],
      ['Kafka down', () => Object.assign(source, { kafkaIsAway: true }), 'kafka'],
    ]
    for (const [words, begin, cause] of causes) {
      allWell()
      begin()
      await page.locator(`[data-cause="${cause}"]`).getByText(words).waitFor(WAIT)
      expect(await banner(page).count()).toBe(1)
    }
    // Who was silent before stays, as it stood; nobody else comes, and none counts.
    expect(await page.locator('li[data-van]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-van')))).toEqual([
      'furgoneta-3',
      'furgoneta-4',
    ])
    expect(await row(page, 'furgoneta-3').textContent()).toContain('as it stood at')
    expect(await counter(page, 'no-signal').textContent()).toBe('0')
    // The two hidden rows, and whoever was not heard for a minute: two at once, the others as time goes on.
    await expect.poll(async () => Number(await counter(page, 'unknown').textContent()), WAIT).toBeGreaterThanOrEqual(4)
    expect(await page.locator('[data-unknown]').textContent()).toMatch(/Of \d+ vans nothing is known/)

    Object.assign(source, { jobIsBehind: false, kafkaIsAway: false })
    source.resumeFeed('pont')
    await banner(page).waitFor({ state: 'detached', timeout: 60_000 })
    await page
      .locator('[data-outages="1"]')
      .getByText(/^Between .* we did not hear anything: bridge down/)
      .waitFor()
    await expect.poll(() => counter(page, 'no-signal').textContent(), WAIT).toBe('2')
    expect(await row(page, 'furgoneta-3').textContent()).toMatch(/not counting \d\d:\d\d to \d\d:\d\d/)
    // Not heard since, and not for three minutes after the outage either: unknown, not silent.
    await expect.poll(() => page.locator('[data-unknown]').getAttribute('data-unknown'), WAIT).toBe('2')
    source.wake('furgoneta-5')
    source.wake('furgoneta-11')
    await page.locator('[data-unknown]').waitFor({ state: 'detached' })
  })

  test('of one partition hide only its vans', async () => {
    allWell()
    const { page, source, url } = await open()
    await row(page, 'furgoneta-3').waitFor()
    source.stopFeed(100_000, [5])
    await banner(page).getByText('partition stuck').waitFor(WAIT)
    await banner(page).getByText('Of the vans of partition 5 nothing is known').waitFor()
    expect(await page.locator('[data-dimmed="true"]').count()).toBe(0)
    expect(await counter(page, 'no-signal').textContent()).toBe('2')
    await expect.poll(async () => Number(await counter(page, 'unknown').textContent()), WAIT).toBeGreaterThanOrEqual(2)
    expect(await row(page, 'furgoneta-3').textContent()).toContain('battery 9 %')
    const report = (await (await fetch(`${url}/api/outages`)).json()) as { silences: object }
    expect(report.silences).toEqual({ counted: 0, overOutages: 0 })
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/km0_panel_deaf_partitions 1/)
  })

  test.each([
    ['dark', 1440, 'ca'],
    ['light', 390, 'es'],
  ] as const)('have no violation of WCAG 2.2 AA in %s at %d, also by keyboard', async (theme, width, locale) => {
    allWell()
    const { page, source } = await open({ theme, width, locale })
    // The views stand last; before them are the pages.
    if (width < 760) await page.getByRole('navigation').last().getByRole('button').nth(1).click()
    await row(page, 'furgoneta-3').waitFor()
    source.stopFeed(240_000)
    source.resumeFeed('broker')
    const outages = page.locator('[data-outages]')
    await outages.waitFor()
    await outages.locator('summary').focus()
    await page.keyboard.press('Enter')
    await outages.getByRole('listitem').waitFor()
    await page.screenshot({ path: join(ARTEFACTS, `outage-over-${theme}-${width}.png`) })
    source.stopFeed(100_000)
    health.delete('/bridge')
    await page.locator('li[data-hidden="true"]').first().waitFor(WAIT)
    await page.locator('[data-cause="bridge"]').waitFor({ state: width < 760 ? 'attached' : 'visible', timeout: 60_000 })
    // Nothing is pushed out of sight.
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    expect(await page.locator('main').evaluate((main) => main.getBoundingClientRect().right - innerWidth)).toBeLessThanOrEqual(0)
    await page.screenshot({ path: join(ARTEFACTS, `outage-${theme}-${width}.png`) })
    expect(await violations(page, WCAG_AND_PRACTICE)).toEqual([])
    expect(await page.locator('body').textContent()).not.toMatch(/(noSignal|outages|van|feed)\.[a-z]/)
  })
})
