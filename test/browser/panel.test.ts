import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DASHBOARD, LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { type SimulatedOptions, SimulatedSource } from './simulated-source.ts'

/** The panel's own server and pages in a real browser, fed by a made-up fleet. Pictures are kept in test/artefacts/panel. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/panel')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`no browser can be started, so the panel is not tested in one: ${String(error)}`)
}
if (!existsSync(join(DASHBOARD, '.next/BUILD_ID'))) throw new Error('the pages are not built: node infra/build.mjs --pages')
mkdirSync(ARTEFACTS, { recursive: true })

type Panel = Awaited<ReturnType<typeof startPanelUnderTest>>
interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  readonly source: SimulatedSource
  readonly panel: Panel
  readonly url: string
  /** Whatever the page asked of anybody but the panel, and what it said on its console as an error. */
  readonly foreign: string[]
  readonly errors: string[]
}
const closing: (() => Promise<void>)[] = []

interface Look {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'dark' | 'light'
  readonly locale?: 'ca' | 'es' | 'en'
  readonly path?: string
}

async function openPage(url: string, look: Look = {}): Promise<Pick<Opened, 'page' | 'context' | 'foreign' | 'errors'>> {
  const context = await (browser as Browser).newContext({ viewport: { width: look.width ?? 1440, height: look.height ?? 900 } })
  closing.push(() => context.close())
  await context.addCookies([
    { name: 'km0_theme', value: look.theme ?? 'dark', url },
    { name: 'km0_locale', value: look.locale ?? 'en', url },
  ])
  const page = await context.newPage()
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url())) foreign.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${url}${look.path ?? '/'}`)
  return { page, context, foreign, errors }
}

async function open(options: Partial<SimulatedOptions> = {}, look: Look = {}): Promise<Opened> {
  const source = new SimulatedSource({ labelsFile: LABELS, vans: 40, ...options })
  const panel = await startPanelUnderTest(source)
  closing.push(() => panel.close())
  const url = `http://127.0.0.1:${panel.port}`
  return { source, panel, url, ...(await openPage(url, look)) }
}

const mapReady = (page: Page) => page.locator('[data-status="ready"]').waitFor({ timeout: 60_000 })
const row = (page: Page, van: string) => page.locator(`li[data-van="${van}"]`)
const distanceRows = (page: Page) => page.locator('tbody tr[data-van]')

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const axe = (
      window as unknown as { axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }
    ).axe
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const found = await axe.run({ runOnly: { type: 'tag', values: tags } })
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)
  })
}

describe.skipIf(browser === null)('the panel in a browser', () => {
  beforeAll(() => undefined)
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  afterAll(() => browser?.close())

  test('vans move, and the selected one is where the map says', async () => {
    const { page, source, panel, foreign, errors } = await open({}, { path: '/?van=furgoneta-7' })
    await mapReady(page)
    const card = page.getByRole('region', { name: 'furgoneta-7' })
    await card.waitFor()
    source.wake('furgoneta-7')
    const moving = page.locator('[data-counter="moving"]')
    await expect.poll(async () => Number(await moving.textContent())).toBeGreaterThan(0)
    const before = panel.state.snapshot({ kind: 'all' }, Date.now()).points.find((point) => point.van === 'furgoneta-7')
    const seen = await card.locator('dd').nth(1).textContent()
    const picture = await page.locator('.maplibregl-canvas').screenshot()
    await expect.poll(() => card.locator('dd').nth(1).textContent(), { timeout: 15_000 }).not.toBe(seen)
    const after = panel.state.snapshot({ kind: 'all' }, Date.now()).points.find((point) => point.van === 'furgoneta-7')
    expect(after?.eventMs).toBeGreaterThan(before?.eventMs ?? 0)
    await page.waitForTimeout(1_500)
    expect(picture.equals(await page.locator('.maplibregl-canvas').screenshot())).toBe(false)
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
  })

  test('a van without data for 3 minutes is provisional, then an episode, and leaves when it is heard', async () => {
    const { page, source } = await open({ silent: { 5: 2.92, 9: 3.72, 11: 20 } })
    await expect.poll(() => row(page, 'furgoneta-11').getAttribute('data-band'), { timeout: 20_000 }).toBe('long')
    await expect.poll(() => row(page, 'furgoneta-5').getAttribute('data-band'), { timeout: 20_000 }).toBe('provisional')
    expect(await row(page, 'furgoneta-5').textContent()).toMatch(/3:0\d.*without data/)
    await expect.poll(() => row(page, 'furgoneta-9').getAttribute('data-band'), { timeout: 20_000 }).toBe('episode')
    const order = await page.locator('li[data-van]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-van')))
    expect(order).toEqual(['furgoneta-11', 'furgoneta-9', 'furgoneta-5'])
    expect(await page.locator('[data-counter="no-signal"]').textContent()).toBe('3')

    const first = await row(page, 'furgoneta-11').locator('time').first().textContent()
    await page.waitForTimeout(2_100)
    expect(await row(page, 'furgoneta-11').locator('time').first().textContent()).not.toBe(first)

    source.wake('furgoneta-9')
    await row(page, 'furgoneta-9').waitFor({ state: 'detached' })
  })

  test('distances appear when windows close, and rows keep their places under the pointer', async () => {
    const { page, source } = await open({ withoutDistances: true })
    await page.getByText('No window has closed yet').waitFor()
    source.closeWindows()
    await expect.poll(() => distanceRows(page).count()).toBe(40)
    expect(await distanceRows(page).first().textContent()).toMatch(/furgoneta-\d+.*\d\.\d\d/)
    const order = () => distanceRows(page).evaluateAll((rows) => rows.map((one) => one.getAttribute('data-van')).join())
    const first = () => distanceRows(page).first().getAttribute('data-van')
    await distanceRows(page).nth(2).hover()
    await page.getByText('order on hold').waitFor()
    const held = await order()
    source.revise('furgoneta-33', 99_000_000)
    await page.locator('tr[data-van="furgoneta-33"]').getByText('99.00').waitFor()
    expect(await order()).toBe(held)
    await page.mouse.move(300, 500)
    await expect.poll(first).toBe('furgoneta-33')

    // Whoever asks for another order gets it, pointer or not.
    await page.getByRole('button', { name: 'Van', exact: true }).click()
    await expect.poll(async () => (await order()).startsWith('furgoneta-1,furgoneta-2,furgoneta-3')).toBe(true)
  })

  test('an acknowledgement asks for the name once, is stored, and is there for everybody at once', async () => {
    const { page, source, url } = await open({ silent: { 3: 20, 4: 18 } })
    const other = await openPage(url, { locale: 'ca' })
    await row(page, 'furgoneta-3')
      .getByRole('button', { name: /^Acknowledge/ })
      .click()
    await page.getByLabel('What is your name?').fill('Marta Puig')
    await page.getByLabel(/^Note/).fill('called, in the tunnel')
    source.refuseAcknowledgements = true
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText(/Not saved.*Nothing was stored/).waitFor()
    source.refuseAcknowledgements = false
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    for (const one of [page, other.page]) {
      await expect.poll(() => row(one, 'furgoneta-3').textContent()).toContain('called, in the tunnel')
      expect(await row(one, 'furgoneta-3').textContent()).toContain('Marta Puig')
    }
    expect(source.stored).toMatchObject([
      { van: 'furgoneta-3', note: 'called, in the tunnel', actor: { name: 'Marta Puig', roles: ['dispatcher'] } },
    ])
    await row(page, 'furgoneta-4')
      .getByRole('button', { name: /^Acknowledge/ })
      .click()
    await page.getByLabel(/^Note/).waitFor()
    expect(await page.getByLabel('What is your name?').count()).toBe(0)
  })

  test('a dead feed is said, and is not a fleet of silent vans', async () => {
    const { page, source } = await open({ silent: { 3: 20 } })
    await row(page, 'furgoneta-3').waitFor()
    source.stopFeed(100_000)
    await page.getByText('The silence is ours', { exact: false }).waitFor()
    expect(await page.locator('[data-dimmed="true"]').count()).toBe(1)
    expect(await page.locator('li[data-van]').count()).toBe(1)
    source.resumeFeed()
    await page.getByText('The silence is ours', { exact: false }).waitFor({ state: 'hidden', timeout: 20_000 })
  })

  test('a line that is cut is said, and what happened meanwhile is there within seconds of its return', async () => {
    const { page, panel } = await open({ silent: { 3: 20 } })
    await row(page, 'furgoneta-3').waitFor()
    const { port } = panel
    await panel.close()
    await page.getByText('The line to the panel is cut').waitFor({ timeout: 20_000 })
    const next = await startPanelUnderTest(new SimulatedSource({ labelsFile: LABELS, vans: 40, silent: { 8: 30 } }), { port })
    closing.push(() => next.close())
    await row(page, 'furgoneta-8').waitFor({ timeout: 20_000 })
    expect(await row(page, 'furgoneta-3').count()).toBe(0)
    await page.getByText('The line to the panel is cut').waitFor({ state: 'hidden' })
  })

  test('everything works by keyboard: search, rows, card', async () => {
    const { page } = await open({ silent: { 3: 20 } })
    await expect.poll(() => distanceRows(page).count()).toBeGreaterThan(10)
    await page.keyboard.press('/')
    await page.keyboard.type('17')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'furgoneta-17' }).waitFor()
    expect(page.url()).toContain('?van=furgoneta-17')
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'furgoneta-17' }).waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('van=')

    await distanceRows(page).first().getByRole('button').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const van = await page.evaluate(() => (document.activeElement as HTMLElement).dataset.row)
    expect(van).toBe(await distanceRows(page).nth(2).getAttribute('data-van'))
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: van ?? '' }).waitFor()
    expect(await page.locator('tbody button[tabindex="0"]').count()).toBe(1)
  })

  test('a link to a van opens it, one to nobody says so', async () => {
    const { page, url } = await open({}, { path: '/?van=furgoneta-3' })
    await page.getByRole('region', { name: 'furgoneta-3' }).getByText('Municipality').waitFor()
    await page.goto(`${url}/?van=nobody`)
    await page.getByText('There is no van nobody').waitFor()
  })

  test.each([
    ['dark', 1440, 900],
    ['light', 1440, 900],
    ['dark', 390, 844],
    ['light', 390, 844],
    ['dark', 1920, 1080],
  ] as const)('has no violation of WCAG 2.2 AA in %s at %d, and is kept as a picture', async (theme, width, height) => {
    const silent = { 3: 20, 4: 8, 5: 3.2 }
    const { page } = await open(
      { vans: 60, silent, doubtful: [9], unregistered: [4], neverSeen: [60] },
      { theme, width, height, path: '/?van=furgoneta-3' },
    )
    await mapReady(page)
    await page.waitForTimeout(1_500)
    const tabs = width < 760 ? page.getByRole('navigation').getByRole('button') : null
    await page.screenshot({ path: join(ARTEFACTS, `${theme}-${width}.png`) })
    expect(await violations(page)).toEqual([])
    if (tabs !== null) {
      for (const [n, name] of [
        [1, 'list'],
        [2, 'distances'],
      ] as const) {
        await tabs.nth(n).click()
        await page.screenshot({ path: join(ARTEFACTS, `${theme}-${width}-${name}.png`) })
        expect(await violations(page)).toEqual([])
      }
      return
    }
    await row(page, 'furgoneta-3')
      .getByRole('button', { name: /^Acknowledge/ })
      .click()
    await page.getByRole('dialog').waitFor()
    await page.waitForTimeout(400)
    expect(await violations(page)).toEqual([])
  })

  test.each(['ca', 'es', 'en'] as const)('speaks %s, without a message that is missing', async (locale) => {
    const { page, errors } = await open({ silent: { 3: 20, 5: 3.2 }, neverSeen: [40] }, { locale, path: '/?van=furgoneta-3' })
    await row(page, 'furgoneta-3').waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe(locale)
    const title = { ca: 'Sense senyal', es: 'Sin señal', en: 'No signal' }[locale]
    expect(await page.locator('#no-signal-title').textContent()).toBe(title)
    expect(await page.locator('body').textContent()).not.toMatch(/(noSignal|distances|shell|van|feed)\.[a-z]/)
    expect(errors).toEqual([])
  })

  test('ten visits leave one connection, and the last one one listener (D03)', async () => {
    const { page, url, panel } = await open()
    await page.locator('[data-counter="moving"]').waitFor()
    for (let visit = 0; visit < 10; visit += 1) await page.goto(`${url}/?van=furgoneta-${visit + 1}`)
    await expect.poll(async () => (await (await fetch(`${url}/metrics`)).text()).match(/km0_panel_browsers (\d+)/)?.[1]).toBe('1')
    expect(panel.port).toBeGreaterThan(0)
  })
})
