import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { QUEUES } from '@km0/contracts/queues'
import { type Lake, LakeWriter, openLake } from '@km0/lake'
import { type Backfills, type NightRuns, openBackfills, openNightRuns, openServing, type Serving } from '@km0/serving'
import { launchBrowser } from '@km0/testkit/browser'
import { startServices, type TestServices } from '@km0/testkit/services'
import { openQueue, type QueueClient } from '@km0/transport/queue'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backfillsRoutes } from '../../apps/dashboard/src/server/backfills/backfills-rest.ts'
import { daysRoutes } from '../../apps/dashboard/src/server/days/days-rest.ts'
import { MaskingState } from '../../apps/dashboard/src/server/masking/masking-state.ts'
import { fillLake, HOUR, logOf, runLiveInto } from '../adapters/backfill-log.ts'
import { BatchProcess, buildBatch } from '../adapters/batch-process.ts'
import { lakeMissing, lakeSettings } from '../adapters/lake-folders.ts'
import { MINUTE } from '../laws/driver.ts'
import { violations } from './accessibility.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

/** The analyst's day in a real browser, over a real lake, store, queue and worker: what is missing, what would change, publish, roll back. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/backfills')
/** 14 September 2026 in Madrid begins at 22:00 UTC of the 13th. */
const DAY = Date.UTC(2026, 8, 13, 22)
const at = (hour: number, minute = 0) => DAY + hour * HOUR + minute * MINUTE
const NOW = at(30)

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`no browser can be started, so the pages of days and backfills are not tested in one: ${String(error)}`)
}
mkdirSync(ARTEFACTS, { recursive: true })

let services: TestServices<{ postgres: true; redis: true }>
let missing: string | null
let lake: Lake | undefined
let serving: Serving
let store: Backfills
let nights: NightRuns
let queue: QueueClient
let batch: BatchProcess | undefined
let panel: Awaited<ReturnType<typeof startPanelUnderTest>>

beforeAll(async () => {
  if (browser === null) return
  services = await startServices({ postgres: true, redis: true })
  missing = await lakeMissing(services)
  if (missing !== null) return
  buildBatch()
  const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
  serving = openServing(options)
  await serving.migrate()
  store = openBackfills(options)
  nights = openNightRuns(options)
  lake = await openLake(lakeSettings(services, 'pages', { inlineRows: 500 }))
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  // Van 3's phone was off for 22 minutes; van 4 sent all it had.
  const records = logOf(0, at(25), [
    { van: 'furgoneta-3', fromMs: at(8), toMs: at(11, 30), offFromMs: at(9, 50), offToMs: at(10, 12) },
    { van: 'furgoneta-4', fromMs: at(9), toMs: at(10, 10) },
  ])
  await fillLake(writer, records)
  await runLiveInto(serving, writer, records)
  queue = openQueue({ redisUrl: services.redis.url, queue: QUEUES.backfills, onError: () => undefined })
  batch = await BatchProcess.start(services, 'lake_pages')
  const nowMs = () => NOW
  panel = await startPanelUnderTest(new SimulatedSource({ labelsFile: LABELS, vans: 3 }), {
    extensions: [
      { routes: daysRoutes({ serving, state: new MaskingState({ clock: 'machine', placeOf: () => null }), nowMs }) },
      { routes: backfillsRoutes({ backfills: store, serving, nights, queue, rules: DEFAULT_POSITIONS_SETTINGS, nowMs }) },
    ],
  })
})
afterAll(async () => {
  await browser?.close()
  await panel?.close()
  await batch?.stop()
  await queue?.close()
  await store?.close()
  await nights?.close()
  await serving?.close()
  lake?.close()
  await services?.stop()
})

async function open(
  path: string,
  look: { width?: number; height?: number; theme?: 'dark' | 'light'; locale?: string } = {},
): Promise<Page> {
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
  page.setDefaultTimeout(90_000)
  await page.goto(`${url}${path}`)
  return page
}
const cellOf = (page: Page, van: string) => page.locator(`tr[data-van="${van}"] td button`).last()
const kmOf = async (page: Page, van: string) => Number(await cellOf(page, van).locator('b').textContent())
const keep = (page: Page, name: string) => page.screenshot({ path: join(ARTEFACTS, `${name}.png`), timeout: 90_000 })

describe.skipIf(browser === null)('days and backfills', () => {
  let before: number
  let page: Page

  test('the table says that points are missing, and the cell why', async (context) => {
    context.skip(missing !== null, missing ?? '')
    page = await open('/dies?fins=2026-09-14')
    await cellOf(page, 'furgoneta-3').waitFor()
    before = await kmOf(page, 'furgoneta-3')
    expect(before).toBeGreaterThan(10)
    expect(Number(await cellOf(page, 'furgoneta-3').getAttribute('data-late'))).toBeGreaterThan(40)
    expect(await cellOf(page, 'furgoneta-4').getAttribute('data-late')).toBe('0')
    await page.getByRole('button', { name: 'Total' }).click()
    expect(await page.locator('tbody tr').first().getAttribute('data-van')).toBe('furgoneta-3')
    await page.getByRole('searchbox').fill('nobody')
    await page.getByText('No van matches the search.').waitFor()
    await page.getByRole('searchbox').fill('')
    await cellOf(page, 'furgoneta-3').click()
    const card = page.locator('[data-day="furgoneta-3|2026-09-14"]')
    await card.getByText(/\d+ wholly, \d+ in part/).waitFor()
    await card.getByText('live, no backfill').waitFor()
    await expect.poll(() => card.locator('dd').allInnerTexts(), { timeout: 30_000 }).toContain('none')
    await keep(page, 'days-dark')
    expect(await violations(page)).toEqual([])
    const csv = await (await page.request.get(`http://127.0.0.1:${panel.port}/api/days.csv?last=2026-09-14`)).text()
    expect(csv).toMatch(/^van,name,.*\r\nfurgoneta-3,,,,2026-09-14,/)
  })

  test('from there to what a backfill would change, and its run', async (context) => {
    context.skip(missing !== null, missing ?? '')
    await page.getByRole('link', { name: 'What would a backfill change?' }).click()
    await page.locator('[data-sentence="brings"]').waitFor({ timeout: 60_000 })
    await keep(page, 'preview-dark')
    await page.getByRole('button', { name: 'Run it' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('textarea').fill('the night run')
    await dialog.getByRole('button', { name: 'Run it' }).click()
    await page.locator('section[data-state="ready"]').waitFor({ timeout: 60_000 })
    expect(page.url()).toContain('versio=1')
    await page.locator('[data-owner="furgoneta-3"] button').click()
    await page.locator('[data-drawn="true"]').waitFor({ timeout: 60_000 })
    const track = page.locator('figure')
    expect(Number(await track.getAttribute('data-after'))).toBeGreaterThan(Number(await track.getAttribute('data-before')) + 40)
    await keep(page, 'difference-dark')
    expect(await violations(page)).toEqual([])
  })

  test('published, everybody sees it, with its version; rolled back, what was before', async (context) => {
    context.skip(missing !== null, missing ?? '')
    const other = await open('/dies?fins=2026-09-14', { theme: 'light' })
    expect(await kmOf(other, 'furgoneta-3')).toBe(before)
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('heading', { name: 'Published', exact: true }).waitFor()
    await other.reload()
    await cellOf(other, 'furgoneta-3').waitFor()
    expect(await kmOf(other, 'furgoneta-3')).toBeGreaterThan(before)
    expect(await cellOf(other, 'furgoneta-3').getAttribute('data-version')).toBe('1')
    expect(await cellOf(other, 'furgoneta-3').getAttribute('data-late')).toBe('0')
    await keep(other, 'days-light')
    expect(await violations(other)).toEqual([])
    await page.getByText('Nothing is missing').waitFor({ timeout: 30_000 })
    await page.getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByRole('heading', { name: 'Not published' }).waitFor()
    // Lineage: read, run, version, and nothing of it served any more.
    expect(await page.locator('[data-node]').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('data-node')))).toEqual([
      'input',
      'run',
      'version',
      'served',
    ])
    await page.locator('[data-node="served"][data-served="nothing"]').waitFor()
    await other.reload()
    await cellOf(other, 'furgoneta-3').waitFor()
    expect(await kmOf(other, 'furgoneta-3')).toBe(before)
    await other.context().close()
    await page.context().close()
  })

  test('a range that cannot be run says why, and a phone shows it all', async (context) => {
    context.skip(missing !== null, missing ?? '')
    const phone = await open(`/recalculs?de=${DAY}&a=${at(72)}`, { width: 390, height: 844, theme: 'light', locale: 'ca' })
    await phone.locator('[data-sentence="refused"]').waitFor({ timeout: 60_000 })
    expect(await phone.getByRole('button', { name: 'Recalcula', exact: true }).count()).toBe(0)
    expect(await phone.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    expect(await violations(phone)).toEqual([])
    await keep(phone, 'preview-phone')
    await phone.goto(`http://127.0.0.1:${panel.port}/dies?fins=2026-09-14`)
    await cellOf(phone, 'furgoneta-3').waitFor()
    await keep(phone, 'days-phone')
    // A phone begins with the newest day. Moved back, no heading is half under the names, which axe-core would hold for too small.
    await phone
      .getByRole('columnheader')
      .first()
      .evaluate((heading) => {
        if (heading.closest('div') !== null) heading.closest('div')!.scrollLeft = 0
      })
    expect(await violations(phone)).toEqual([])
    expect(await phone.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    await phone.context().close()
  })
})
