import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RecentPoint } from '@km0/contracts'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { violations, WCAG_AND_PRACTICE } from './accessibility.ts'
import { noteRefused } from './content-policy.ts'
import { DASHBOARD, LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { type SimulatedOptions, SimulatedSource } from './simulated-source.ts'

/**
 * The panel's own server and pages in a real browser, fed by a made-up fleet. One server and one page for all: drawing in software is what takes
 * time. What is long (sizes, sleep, memory) is in test/proofs/panel-*.test.ts. Pictures are kept in test/artefacts/panel.
 */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/panel')
/** A slow machine is no fault. */
const WAIT = { timeout: 60_000 }

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`no browser can be started, so the panel is not tested in one: ${String(error)}`)
}
if (!existsSync(join(DASHBOARD, '.next/BUILD_ID'))) throw new Error('the pages are not built: node infra/build.mjs --pages')
mkdirSync(ARTEFACTS, { recursive: true })

type Panel = Awaited<ReturnType<typeof startPanelUnderTest>>
const DESK = { width: 1440, height: 900 }
const NOW = () => Date.now()
const PAGES = [
  '/',
  ...readdirSync(join(DASHBOARD, 'src/app'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [`/${entry.name}`] : [])),
]

/** What arrived lately from any van: one point of each kind, and one that names no place. */
const RECENT: readonly Omit<RecentPoint, 'eventMs' | 'arrivalMs'>[] = [
  { lon: 2.8, lat: 41.98, verdict: 'accepted', reason: null },
  { lon: 2.81, lat: 41.99, verdict: 'late', reason: 'tard' },
  { lon: 2.9, lat: 42, verdict: 'refused', reason: 'futur' },
  { lon: null, lat: null, verdict: 'refused', reason: 'invalid' },
]

describe.skipIf(browser === null)('the panel in a browser', () => {
  const foreign: string[] = []
  const errors: string[] = []
  let source: SimulatedSource
  let panel: Panel
  let page: Page
  let url: string

  async function serve(options: Partial<SimulatedOptions>, port = 0): Promise<void> {
    source = new SimulatedSource({ labelsFile: LABELS, vans: 40, ...options })
    panel = await startPanelUnderTest(source, {
      port,
      recentPoints: async (van) => ({
        ...{ van, nowMs: NOW(), fromMs: NOW() - 900_000, truncated: false },
        points: RECENT.map((point, index) => ({ ...point, eventMs: NOW() - 60_000 + index, arrivalMs: NOW() })),
      }),
    })
    url = `http://127.0.0.1:${panel.port}`
  }

  async function openPage(path: string, locale: 'ca' | 'es' | 'en' = 'en'): Promise<Page> {
    const context = await (browser as Browser).newContext({ viewport: DESK, reducedMotion: 'reduce' })
    await context.addCookies([
      { name: 'km0_theme', value: 'dark', url },
      { name: 'km0_locale', value: locale, url },
    ])
    const opened = await context.newPage()
    opened.on('request', (request) => {
      if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url())) foreign.push(request.url())
    })
    opened.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    opened.on('pageerror', (error) => errors.push(error.message))
    await opened.addInitScript(noteRefused)
    await opened.goto(`${url}${path}`)
    return opened
  }

  const row = (van: string, on = page) => on.locator(`li[data-van="${van}"]`)
  const distanceRows = () => page.locator('tbody tr[data-van]')
  const card = (van: string) => page.getByRole('region', { name: van, exact: true })
  const canvas = () => page.locator('.maplibregl-canvas')
  const search = () => new URL(page.url()).searchParams

  beforeAll(async () => {
    await serve({
      silent: { 3: 20, 5: 2.92, 9: 3.72, 14: 18 },
      doubtful: [20],
      unregistered: [14],
      neverSeen: [40],
      withoutDistances: true,
    })
    page = await openPage('/')
  })
  // A test that fails on a phone leaves a desk to the next.
  beforeEach(() => page.setViewportSize(DESK))
  afterAll(async () => {
    await browser?.close()
    await panel?.close()
  })

  test('a van without data for 3 minutes is provisional, then an episode, and leaves when it is heard', async () => {
    await expect.poll(() => row('furgoneta-3').getAttribute('data-band'), WAIT).toBe('long')
    await expect.poll(() => row('furgoneta-5').getAttribute('data-band'), WAIT).toMatch(/provisional|episode/)
    await expect.poll(() => row('furgoneta-9').getAttribute('data-band'), WAIT).toBe('episode')
    const order = await page.locator('li[data-van][data-band]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-van')))
    expect(order).toEqual(['furgoneta-3', 'furgoneta-14', 'furgoneta-9', 'furgoneta-5'])
    expect(await page.locator('[data-counter="no-signal"]').textContent()).toBe('4')

    const age = () => row('furgoneta-3').locator('time').first().textContent()
    const first = await age()
    await expect.poll(age, WAIT).not.toBe(first)

    source.wake('furgoneta-9')
    await page.locator('li[data-van="furgoneta-9"][data-band]').waitFor({ state: 'detached', ...WAIT })
  })

  test('distances appear when windows close, and rows keep their places under the pointer', async () => {
    await page.getByText('No window has closed yet').waitFor(WAIT)
    source.closeWindows()
    await expect.poll(() => distanceRows().count(), WAIT).toBeGreaterThan(35)
    expect(await distanceRows().first().textContent()).toMatch(/furgoneta-\d+.*\d\.\d\d/)
    const order = () => distanceRows().evaluateAll((rows) => rows.map((one) => one.getAttribute('data-van')).join())
    await distanceRows().nth(2).hover()
    await page.getByText('order on hold').waitFor(WAIT)
    const held = await order()
    source.revise('furgoneta-33', 99_000_000)
    await page.locator('tr[data-van="furgoneta-33"]').getByText('99.00').waitFor(WAIT)
    expect(await order()).toBe(held)
    await page.mouse.move(300, 500)
    await expect.poll(() => distanceRows().first().getAttribute('data-van'), WAIT).toBe('furgoneta-33')

    // Whoever asks for another order gets it, pointer or not.
    await page.getByRole('button', { name: 'Van', exact: true }).click()
    await expect.poll(async () => (await order()).startsWith('furgoneta-1,furgoneta-2,furgoneta-3'), WAIT).toBe(true)
  })

  test('everything works by keyboard: search, rows, card', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('17')
    await page.getByRole('option').first().waitFor(WAIT)
    await page.keyboard.press('Enter')
    await card('furgoneta-17').waitFor(WAIT)
    expect(page.url()).toContain('?van=furgoneta-17')
    await page.keyboard.press('Escape')
    await card('furgoneta-17').waitFor({ state: 'detached', ...WAIT })
    expect(page.url()).not.toContain('van=')

    await distanceRows().first().getByRole('button').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const van = await page.evaluate(() => (document.activeElement as HTMLElement).dataset.row)
    expect(van).toBe(await distanceRows().nth(2).getAttribute('data-van'))
    await page.keyboard.press('Enter')
    await card(van ?? '').waitFor(WAIT)
    expect(await page.locator('tbody button[tabindex="0"]').count()).toBe(1)
    await page.goBack()
    await card(van ?? '').waitFor({ state: 'detached', ...WAIT })
  })

  test('vans move, and the selected one is where the map says', async () => {
    await page.locator('[data-status="ready"]').waitFor(WAIT)
    await expect.poll(async () => Number(await page.locator('[data-counter="moving"]').textContent()), WAIT).toBeGreaterThan(0)
    await page.evaluate(() => {
      const drawn = new Map<string, number>()
      Object.assign(window, { drawn })
      window.addEventListener('vansdrawn', (event) => {
        const { batches } = (event as CustomEvent<{ batches: { moves: { van: string; eventMs: number }[] }[] }>).detail
        for (const { moves } of batches) for (const { van, eventMs } of moves) drawn.set(van, eventMs)
      })
    })
    const picture = await canvas().screenshot(WAIT)
    source.wake('furgoneta-7')
    const newest = panel.state.snapshot({ kind: 'all' }, NOW()).points.find(({ van }) => van === 'furgoneta-7')?.eventMs ?? 0
    // Drawn out of a batch, long before the next second is over.
    await expect
      .poll(() => page.evaluate(() => (window as unknown as { drawn: Map<string, number> }).drawn.get('furgoneta-7') ?? 0), WAIT)
      .toBeGreaterThanOrEqual(newest)
    await expect.poll(async () => picture.equals(await canvas().screenshot(WAIT)), WAIT).toBe(false)
  })

  test('the map shows what is asked of it, and the address tells all of it', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('furgoneta-7')
    await page.keyboard.press('Enter')
    await card('furgoneta-7').waitFor(WAIT)
    await page.getByRole('button', { name: 'Layers' }).click()
    await page.getByLabel('Points of the selected van').check()
    await page.getByLabel('Trails of all, 15 minutes').check()
    await page.keyboard.press('Escape')
    await page.locator('#map-menu').waitFor({ state: 'hidden' })
    // Escape closed the menu, not the card behind it.
    expect(await card('furgoneta-7').count()).toBe(1)
    const note = page.locator('[data-verdict="refused"]')
    await note.waitFor(WAIT)
    expect(await note.textContent()).toContain('2 refused')
    expect(await page.locator('[data-verdict="late"]').textContent()).toContain('1 late')
    await page.getByText('1 without a place').waitFor()

    const shown = page.getByRole('button', { name: 'stopped', exact: true })
    await shown.click()
    expect(await shown.getAttribute('aria-pressed')).toBe('false')
    await page.getByRole('button', { name: /^The \d+ shown$/ }).click()
    await card('furgoneta-7').getByRole('button', { name: 'Follow' }).click()
    await expect.poll(() => search().get('follow'), WAIT).toBe('1')
    expect(search().get('layers')?.split(',').sort()).toEqual(['points', 'trails'])
    expect(search().get('hide')).toBe('stopped')

    // Whoever is given the link sees the same.
    const link = page.url()
    await page.goto(link)
    await card('furgoneta-7').getByRole('button', { name: 'Following' }).waitFor(WAIT)
    await page.locator('[data-verdict="late"]').waitFor(WAIT)
    expect(await shown.getAttribute('aria-pressed')).toBe('false')
    await page.goto(`${url}/?van=nobody`)
    await page.getByText('There is no van nobody').waitFor(WAIT)
  })

  test('an acknowledgement is stored, happens once, and is there for everybody at once', async () => {
    const other = await openPage('/?view=no-signal', 'ca')
    await row('furgoneta-3')
      .getByRole('button', { name: /^Acknowledge/ })
      .click()
    const dialog = page.getByRole('dialog')
    const send = dialog.getByRole('button', { name: 'Acknowledge' })
    await page.getByLabel(/^Note/).fill('called, in the tunnel')
    source.refuseAcknowledgements = true
    await send.click()
    await page.getByText(/Not saved.*Nothing was stored/).waitFor(WAIT)
    source.refuseAcknowledgements = false

    // It is stored, and the answer is lost on the way: what is sent again is the same command.
    await page.route('**/api/acknowledgements', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await send.click()
    await page.getByText(/Not saved/).waitFor(WAIT)
    await expect.poll(() => source.stored.length, WAIT).toBe(1)
    await page.unroute('**/api/acknowledgements')
    await send.click()
    await dialog.waitFor({ state: 'hidden', ...WAIT })
    for (const one of [page, other]) {
      await expect.poll(() => row('furgoneta-3', one).first().textContent(), WAIT).toContain('called, in the tunnel')
      expect(await row('furgoneta-3', one).first().textContent()).toContain('Marta Puig')
    }
    expect(source.stored).toMatchObject([{ van: 'furgoneta-3', note: 'called, in the tunnel', actor: { name: 'Marta Puig' } }])
    await other.context().close()
    // The answer that was lost is no fault of the page's.
    errors.splice(
      0,
      errors.length,
      ...errors.filter((text) => !text.includes('/api/acknowledgements') && !/ERR_CONNECTION_RESET|503/.test(text)),
    )
  })

  test('has no violation of WCAG 2.2 AA: both themes, a desk and a phone, card and dialog', async () => {
    await page.goto(`${url}/?van=furgoneta-3&layers=points`)
    await page.locator('[data-status="ready"]').waitFor(WAIT)
    await card('furgoneta-3').waitFor(WAIT)
    for (const theme of ['dark', 'light']) {
      if (theme === 'light') await page.getByRole('button', { name: /theme/ }).first().click()
      await page.locator(`[data-theme="${theme}"]`).first().waitFor()
      expect(await violations(page, WCAG_AND_PRACTICE)).toEqual([])
      await page.screenshot({ path: join(ARTEFACTS, `${theme}-1440.png`) })
    }
    await page.getByRole('button', { name: 'Layers' }).click()
    expect(await violations(page, WCAG_AND_PRACTICE)).toEqual([])
    await page.keyboard.press('Escape')
    await row('furgoneta-3')
      .getByRole('button', { name: /^(Acknowledge|New note)/ })
      .click()
    await page.getByRole('dialog').waitFor(WAIT)
    expect(await violations(page, WCAG_AND_PRACTICE)).toEqual([])
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 390, height: 844 })
    const tabs = page.getByRole('navigation', { name: 'Views' }).getByRole('button')
    for (const [n, view] of ['map', 'no-signal', 'distances'].entries()) {
      await tabs.nth(n).click()
      await page.locator(`[data-view="${view}"]`).waitFor()
      expect(await violations(page, WCAG_AND_PRACTICE)).toEqual([])
      // Nothing is pushed out of sight.
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
      await page.screenshot({ path: join(ARTEFACTS, `light-390-${view}.png`) })
    }
  })

  test('speaks ca, es and en, without a message that is missing', async () => {
    for (const [locale, title] of [
      ['ca', 'Sense senyal'],
      ['es', 'Sin señal'],
      ['en', 'No signal'],
    ] as const) {
      await page.context().addCookies([{ name: 'km0_locale', value: locale, url }])
      await page.goto(`${url}/?van=furgoneta-3&layers=points`)
      await row('furgoneta-3').first().waitFor(WAIT)
      expect(await page.locator('html').getAttribute('lang')).toBe(locale)
      expect(await page.locator('#no-signal-title').textContent()).toBe(title)
      expect(await page.locator('body').textContent()).not.toMatch(/(noSignal|distances|shell|van|feed|map)\.[a-z]/)
    }
  })

  test('ten visits leave one connection (D03)', async () => {
    for (let visit = 0; visit < 10; visit += 1) await page.goto(`${url}/?van=furgoneta-${visit + 1}`, { waitUntil: 'commit' })
    await row('furgoneta-3').first().waitFor(WAIT)
    await expect.poll(async () => (await (await fetch(`${url}/metrics`)).text()).match(/km0_panel_browsers (\d+)/)?.[1], WAIT).toBe('1')
  })

  test('a dead feed is said, and is not a fleet of silent vans', async () => {
    const silent = await page.locator('li[data-van][data-band]').count()
    source.stopFeed(100_000)
    await page.getByText('The silence is ours', { exact: false }).waitFor(WAIT)
    expect(await page.locator('[data-dimmed="true"]').count()).toBe(1)
    expect(await page.locator('li[data-van][data-band]').count()).toBeLessThanOrEqual(silent)
    source.resumeFeed()
    await page.getByText('The silence is ours', { exact: false }).waitFor({ state: 'hidden', ...WAIT })
  })

  test('until here nobody else was asked for anything, and nothing failed: the map paints under a policy that lets no other script run', async () => {
    expect(foreign).toEqual([])
    expect(errors).toEqual([])
    expect(await page.evaluate(() => (window as unknown as { refused: string[] }).refused)).toEqual([])
    const ran = await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.head.append(script)
      return 'ran' in window
    })
    expect(ran).toBe(false)
    await expect.poll(() => page.evaluate(() => (window as unknown as { refused: string[] }).refused)).toEqual(['script-src-elem inline'])
    errors.length = 0
  })

  test.each(PAGES)('each script of %s carries the nonce of its answer', async (path) => {
    const answer = await fetch(`${url}${path}`)
    const nonce = answer.headers.get('content-security-policy')?.match(/'nonce-([^']+)'/)?.[1]
    const scripts = (await answer.text()).match(/<script\b[^>]*>/g) ?? []
    expect(scripts.length).toBeGreaterThan(3)
    expect(scripts.filter((script) => !script.includes(`nonce="${nonce}"`) && !script.includes(' src="/_next/'))).toEqual([])
  })

  test('a line that is cut is said; a command meanwhile says that it did not happen; a server begun anew is all that counts', async () => {
    const { port } = panel
    await panel.close()
    await page.getByText('The line to the panel is cut').waitFor(WAIT)
    await row('furgoneta-3')
      .first()
      .getByRole('button', { name: /^(Acknowledge|New note)/ })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText(/Not saved/).waitFor(WAIT)
    await page.keyboard.press('Escape')
    await serve({ silent: { 8: 30 } }, port)
    const backMs = performance.now()
    await row('furgoneta-8').waitFor(WAIT)
    console.info(`the panel was right again ${Math.round(performance.now() - backMs)} ms after its server was back`)
    // The row under the pointer keeps its place, as one that is back.
    await expect.poll(() => page.locator('li[data-van="furgoneta-3"]:not([data-band="returned"])').count(), WAIT).toBe(0)
    await page.getByText('The line to the panel is cut').waitFor({ state: 'hidden', ...WAIT })
    expect(source.stored).toEqual([])
  })
})
