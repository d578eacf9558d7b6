import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { encodeSource, type LiveStockValue, type StockEpisodeValue, type StockNotice, TOPICS } from '@km0/contracts'
import { openServing, openStockServing, type StockServing } from '@km0/serving'
import { launchBrowser } from '@km0/testkit/browser'
import { startServices, type TestServices } from '@km0/testkit/services'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stockExtension } from '../../apps/dashboard/src/server/stock/stock-extension.ts'
import { violations } from './accessibility.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

/** Low stock on the panel, in a real browser over a real store: toasts once, acknowledgements shared, restarts of anything. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/stock')
const MINUTE = 60_000
/** A slow machine is no fault. */
const WAIT = { timeout: 30_000 }
const NOW = Date.now()

let browser: Browser | null = null
try {
  browser = await launchBrowser({ maps: false })
} catch (error) {
  console.warn(`no browser can be started, so the page of stock is not tested in one: ${String(error)}`)
}
mkdirSync(ARTEFACTS, { recursive: true })

let services: TestServices<{ postgres: true }>
let store: StockServing
let panel: Awaited<ReturnType<typeof startPanelUnderTest>>
let offset = 0

const startPanel = (port = 0) =>
  startPanelUnderTest(new SimulatedSource({ labelsFile: LABELS, vans: 3 }), {
    port,
    extensions: [stockExtension(store, (error) => console.error(error))],
  })

const batch = (topic: string, key: string, value: object) => {
  offset += 1
  const headers = encodeSource({ epoch: 1, partition: 0, offset })
  return {
    topic,
    partition: 0,
    nextOffset: offset,
    clusterId: 'c',
    writtenAtMs: NOW,
    records: [{ offset, key, value: Buffer.from(JSON.stringify(value)), headers }],
  }
}
const told = (motiu: StockNotice['motiu'], estoc: number): StockNotice => ({ motiu, estoc, data_ms: Date.now() - 1_000 })
function episode(
  product: string,
  market: string,
  minutesAgo: number,
  minimum: number,
  avisos: StockNotice[],
  more: Partial<StockEpisodeValue> = {},
): StockEpisodeValue {
  const inici_ms = NOW - minutesAgo * MINUTE
  return {
    producte: product,
    mercat: market,
    inici_ms,
    fi_ms: null,
    estoc_minim: minimum,
    llindar: 10,
    darrera_finestra_ms: inici_ms,
    avisos,
    ...more,
  }
}
const tell = (value: StockEpisodeValue) =>
  store.applyEpisodeBatch(batch(TOPICS.stockEpisodes.name, `${value.inici_ms}|${value.producte}|${value.mercat}`, value))
async function sell(product: string, market: string, stock: number, minutesAgo = 0): Promise<void> {
  const value: LiveStockValue = {
    producte: product,
    mercat: market,
    estoc_actual: stock,
    data_ms: NOW - minutesAgo * MINUTE,
    arribada_ms: NOW,
    llindar: 10,
  }
  await store.applyLiveBatch(batch(TOPICS.stockLive.name, `${product}|${market}`, value))
}

beforeAll(async () => {
  if (browser === null) return
  services = await startServices({ postgres: true })
  const databaseUrl = services.environment.DATABASE_URL ?? ''
  const schema = openServing({ databaseUrl, applicationName: 'test' })
  await schema.migrate()
  await schema.close()
  store = openStockServing({ databaseUrl, applicationName: 'test' })
  for (let hour = 23; hour > 0; hour -= 1) await sell('Tomàquet de penjar', 'Mercat del Lleó', 20 + ((hour * 13) % 50), hour * 60)
  await sell('Tomàquet de penjar', 'Mercat del Lleó', 6, 12)
  await sell('Mongetes de Santa Pau', 'Olot', 0, 5)
  await sell('Formatge de cabra', 'Olot', 9, 2)
  await sell('Pa de pagès', 'Mercat del Lleó', 44, 1)
  await tell(episode('Tomàquet de penjar', 'Mercat del Lleó', 15, 6, [told('comenca', 6)]))
  await tell(episode('Mongetes de Santa Pau', 'Olot', 40, 0, [told('comenca', 5), told('zero', 0)]))
  await tell(episode('Pa de pagès', 'Mercat del Lleó', 180, 2, [told('comenca', 4), told('meitat', 2)], { fi_ms: NOW - 100 * MINUTE }))
  panel = await startPanel()
})
afterAll(async () => {
  await browser?.close()
  await panel?.close()
  await store?.close()
  await services?.stop()
})

interface Look {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'dark' | 'light'
  readonly locale?: 'ca' | 'es' | 'en'
  readonly path?: string
}
async function open(look: Look = {}): Promise<Page> {
  const context = await (browser as Browser).newContext({
    viewport: { width: look.width ?? 1440, height: look.height ?? 900 },
    reducedMotion: 'reduce',
  })
  const url = `http://127.0.0.1:${panel.port}`
  await context.addCookies([
    { name: 'km0_theme', value: look.theme ?? 'dark', url },
    { name: 'km0_locale', value: look.locale ?? 'en', url },
  ])
  const page = await context.newPage()
  await page.goto(`${url}${look.path ?? '/estoc'}`)
  if (look.path === undefined) await page.locator('[data-list="episodes"] [data-episode]').first().waitFor()
  return page
}
const products = (page: Page, list: string) => page.locator(`[data-list="${list}"] > li`).allInnerTexts()
const toasts = (page: Page) => page.locator('[data-toast]').allInnerTexts()
const untilToasts = async (page: Page, count: number) => expect.poll(() => page.locator('[data-toast]').count(), WAIT).toBe(count)

describe.skipIf(browser === null)('low stock on the panel', () => {
  test('lists what lasts by urgency, what is over, and what is below its threshold now, also before an alert', async () => {
    const page = await open()
    const [first, second] = await products(page, 'episodes')
    expect(first).toMatch(/Mongetes de Santa Pau/)
    expect(second).toMatch(/Tomàquet de penjar[\s\S]*since/)
    expect(await products(page, 'low')).toHaveLength(3)
    expect((await products(page, 'low')).find((row) => row.includes('Formatge'))).toMatch(/no alert yet/)
    await page.getByText('One recovered today').click()
    await expect.poll(() => products(page, 'ended')).toHaveLength(1)
    await page.locator('[data-list="episodes"] svg[role="img"]').first().waitFor()
    // A first visit is not told what was before it.
    expect(await toasts(page)).toEqual([])
    await page.screenshot({ path: join(ARTEFACTS, 'dark.png') })
    await page.context().close()
  })

  test('tells each thing once: not after a reload, a re-emission, or a restart of the panel; what came meanwhile is told then', async () => {
    const page = await open()
    const begun = episode('Ous de Calaf', 'Girona centre', 6, 8, [told('comenca', 8)])
    await sell('Ous de Calaf', 'Girona centre', 8)
    await tell(begun)
    await untilToasts(page, 1)
    expect((await toasts(page))[0]).toMatch(/Ous de Calaf in Girona centre: 8 left/)
    await page.screenshot({ path: join(ARTEFACTS, 'toast.png') })
    await page.reload()
    await page.getByText('Ous de Calaf').first().waitFor()
    await tell(begun)
    const halved = { ...begun, estoc_minim: 3, avisos: [...begun.avisos, told('meitat', 3)] }
    await tell(halved)
    await untilToasts(page, 1)
    expect((await toasts(page))[0]).toMatch(/only 3 by now/)
    await page.locator('[data-toast] button').click()
    const { port } = panel
    await panel.close()
    await tell(halved)
    await tell({ ...halved, estoc_minim: 0, avisos: [...halved.avisos, told('zero', 0)] })
    await page.getByText('Disconnected').waitFor()
    panel = await startPanel(port)
    await untilToasts(page, 1)
    expect((await toasts(page))[0]).toMatch(/sold out/)
    await page.context().close()
  })

  test('shares an acknowledgement with everybody who looks; it holds for the episode through a reload, until it is over', async () => {
    const [page, other] = [await open(), await open()]
    const row = (of: Page) => of.locator('[data-episode]', { hasText: 'Tomàquet de penjar' })
    await row(page).getByRole('button').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await row(page).getByRole('button', { name: 'Acknowledge the low stock of Tomàquet de penjar in Mercat del Lleó' }).click()
    await page.getByLabel(/^Note/).fill('Demanat, arriba a les cinc')
    await page.screenshot({ path: join(ARTEFACTS, 'acknowledge.png') })
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).last().click()
    await expect.poll(() => row(other).textContent(), WAIT).toMatch(/Marta Puig, [\s\S]*Demanat, arriba a les cinc/)
    await other.reload()
    await row(other).waitFor()
    expect(await row(other).textContent()).toMatch(/Demanat/)
    // A revision of the episode; then the shelf is filled.
    await tell(episode('Tomàquet de penjar', 'Mercat del Lleó', 15, 5, [told('comenca', 6)]))
    await expect.poll(() => row(other).textContent(), WAIT).toMatch(/lowest 5[\s\S]*Demanat/)
    await other.mouse.move(5, 5)
    await sell('Tomàquet de penjar', 'Mercat del Lleó', 60)
    await tell(episode('Tomàquet de penjar', 'Mercat del Lleó', 15, 5, [told('comenca', 6)], { fi_ms: NOW }))
    await expect.poll(() => other.locator('[data-list="episodes"]').textContent(), WAIT).not.toMatch(/Tomàquet/)
    await other.getByText('recovered today').click()
    await expect.poll(async () => (await products(other, 'ended')).find((text) => text.includes('Tomàquet'))).toMatch(/Demanat/)
    await Promise.all([page.context().close(), other.context().close()])
  })

  test('shows one market when asked, in the address too, so that a reload keeps it', async () => {
    const page = await open()
    await page.getByRole('combobox', { name: 'Market' }).selectOption('Olot')
    await expect.poll(() => products(page, 'episodes')).toHaveLength(1)
    expect(page.url()).toContain('mercat=Olot')
    await page.reload()
    await page.locator('[data-list="episodes"] [data-episode]').first().waitFor()
    expect(await products(page, 'episodes')).toHaveLength(1)
    expect(await products(page, 'low')).toHaveLength(2)
    await page.context().close()
  })

  test('goes on when the store is away, says so, and catches up', async () => {
    const page = await open()
    await services.postgres.kill9()
    await page.getByText('No news').waitFor({ timeout: 60_000 })
    expect((await products(page, 'episodes')).length).toBeGreaterThan(0)
    await services.restart('postgres')
    await page.getByText('Live').waitFor({ timeout: 60_000 })
    await page.context().close()
  })

  test.each([
    { name: 'dark', look: {} },
    { name: 'light', look: { theme: 'light' as const, locale: 'es' as const } },
    { name: 'phone', look: { width: 390, height: 844, locale: 'ca' as const } },
    { name: 'phone-light', look: { width: 390, height: 844, theme: 'light' as const, locale: 'ca' as const } },
  ])('has no fault of accessibility, and does not scroll sideways: $name', async ({ name, look }) => {
    const page = await open(look)
    await page.locator('[data-list="episodes"] svg[role="img"]').first().waitFor()
    await page.waitForTimeout(700)
    await page.screenshot({ path: join(ARTEFACTS, `look-${name}.png`) })
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    await page.context().close()
  })

  test('tells the page of the fleet too, with the way to the list', async () => {
    const page = await open({ path: '/' })
    await page.getByRole('link', { name: 'Stock' }).waitFor()
    // The first notices that come are taken as known.
    await page.waitForTimeout(2_500)
    await sell('Mel de romaní', 'Olot', 4)
    await tell(episode('Mel de romaní', 'Olot', 5, 4, [told('comenca', 4)]))
    await untilToasts(page, 1)
    await page.getByRole('link', { name: 'Show' }).click()
    await page.getByText('Mel de romaní').first().waitFor()
    expect(page.url()).toContain('/estoc')
    await page.context().close()
  })
})
