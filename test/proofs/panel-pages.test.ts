import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../browser/accessibility.ts'
import { noteRefused } from '../browser/content-policy.ts'
import { PlatformUnderTest } from '../e2e/platform.ts'

/**
 * Every page of the panel over the whole platform with its demo fleet, in both themes: axe-core finds nothing, nothing is wider than its screen, and the
 * browser reports no fault. Pictures of them, to be looked at, lie in test/artefacts/panel-pages; those of docs/pictures come from there.
 */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/panel-pages')
/** Its lake needs some minutes before a page can look back. */
const LOOK_BACK_MS = 4 * 60_000
/** Name, path, and what is there once the page has something to show. */
const PAGES: readonly (readonly [string, () => string, string])[] = [
  ['map', () => '/', '[data-status="ready"]'],
  ['card', () => '/?van=furgoneta-3', '[data-status="ready"]'],
  ['stock', () => '/estoc', '[data-list="episodes"]'],
  ['handover', () => '/relleu', 'li[data-van], li[data-change]'],
  ['van', () => '/furgoneta?van=furgoneta-3', '[data-status="ready"]'],
  ['replay', () => `/reproduccio?t=${new Date(Date.now() - LOOK_BACK_MS).toISOString()}`, '[data-status="ready"]'],
  ['days', () => '/dies', 'tbody tr[data-van]'],
  ['backfills', () => '/recalculs', 'main h2'],
  ['ledger', () => '/balanc', 'main h2'],
  ['operations', () => '/operacions', '[data-partition]'],
  ['fleet', () => '/flota', 'tbody tr'],
  ['data', () => '/dades', 'main h2'],
  ['users', () => '/usuaris', 'tr[data-action]'],
]
const THEMES = ['dark', 'light'] as const
type Theme = (typeof THEMES)[number]
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 }, wall: { width: 1920, height: 1080 } }
/** A page that is still on its way after this is looked at as it is. */
const SETTLED_MS = 60_000
const LONG_MS = 120_000
/** With its register filled, on a machine that has other work. */
const READY_WITHIN_MS = 360_000

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`no browser can be started, so pages are not looked at: ${String(error)}`)
}
mkdirSync(ARTEFACTS, { recursive: true })

let platform: PlatformUnderTest
let url: string
let session: Awaited<ReturnType<BrowserContext['storageState']>>
const faults: string[] = []

async function open(theme: Theme, signedIn = true): Promise<Page> {
  const context = await (browser as Browser).newContext({
    viewport: SIZES.desk,
    reducedMotion: 'reduce',
    locale: 'ca-ES',
    ...(signedIn ? { storageState: session } : {}),
  })
  await context.addCookies([
    { name: 'km0_theme', value: theme, url },
    { name: 'km0_locale', value: 'ca', url },
  ])
  const page = await context.newPage()
  await page.addInitScript(noteRefused)
  page.setDefaultTimeout(LONG_MS)
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
  return page
}

/** Its lists and maps have come, as far as they come, and what has come is drawn. */
async function settled(page: Page): Promise<void> {
  await page.locator('main').first().waitFor()
  const nothingLoads = () => document.querySelector('[data-line="loading"], [data-status="loading"], [aria-busy="true"]') === null
  await page.waitForFunction(nothingLoads, undefined, { timeout: SETTLED_MS }).catch(() => undefined)
  await page.evaluate(async () => {
    for (let frame = 0; frame < 6; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve))
  })
}

const keep = (page: Page, name: string) => page.screenshot({ path: join(ARTEFACTS, `${name}.png`), timeout: LONG_MS })

/** On a desk, on a phone and on a wall. Returns what is wrong. */
async function look(page: Page, name: string, theme: Theme): Promise<string[]> {
  await settled(page)
  await keep(page, `${name}-${theme}-1440`)
  const found = await violations(page)
  found.push(...(await page.evaluate(() => (window as unknown as { refused: string[] }).refused)))
  for (const [size, viewport] of Object.entries({ phone: SIZES.phone, wall: SIZES.wall })) {
    await page.setViewportSize(viewport)
    await settled(page)
    // Between two frames of a busy machine it may be.
    const fits = () => document.documentElement.scrollWidth <= window.innerWidth
    await page.waitForFunction(fits, undefined, { timeout: SETTLED_MS }).catch(() => undefined)
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (wider > 0) found.push(`${wider} pixels wider than a ${size}`)
    await keep(page, `${name}-${theme}-${viewport.width}`)
  }
  await page.setViewportSize(SIZES.desk)
  return found
}

beforeAll(async () => {
  if (browser === null) return
  platform = await PlatformUnderTest.start([], {}, READY_WITHIN_MS)
  url = platform.addresses().url.replace(/\/$/, '')
}, READY_WITHIN_MS + LONG_MS)
afterAll(async () => {
  await browser?.close()
  await platform?.stop()
})

describe.skipIf(browser === null)('every page, over the whole platform', () => {
  test('the way in, and an administrator through it', async () => {
    const page = await open('light', false)
    await page.goto(`${url}/entrada#used`)
    const found = await look(page, 'sign-in', 'light')
    await page.context().close()
    const entering = await open('dark', false)
    await entering.goto(`${url}/entrada#${platform.linkToken()}`)
    found.push(...(await look(entering, 'sign-in', 'dark')))
    await entering.getByRole('button', { name: 'Entra amb l’enllaç' }).click()
    await entering.getByRole('button', { name: 'Ara no' }).click()
    await entering.waitForURL(`${url}/`)
    session = await entering.context().storageState()
    await expect.poll(() => entering.locator('[data-counter="moving"]').textContent(), { timeout: LONG_MS }).toMatch(/[1-9]/)
    await entering.context().close()
    expect(found).toEqual([])
  })

  describe.each(THEMES)('%s', (theme) => {
    test.each(PAGES)('%s', async (name, path, shown) => {
      const page = await open(theme)
      await page.goto(`${url}${path()}`)
      await page.locator(shown).first().waitFor()
      const found = await look(page, name, theme)
      await page.context().close()
      expect(found).toEqual([])
    })
  })

  test('no script failed on any of them', () => {
    expect(faults).toEqual([])
  })
})
