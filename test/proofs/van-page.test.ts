import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_POSITIONS_SETTINGS, type PartitionFeed } from '@km0/contracts'
import { type Lake, LakeWriter, openLake } from '@km0/lake'
import { openServing, type Serving } from '@km0/serving'
import { launchBrowser } from '@km0/testkit/browser'
import { startServices, type TestServices } from '@km0/testkit/services'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lakeExtension } from '../../apps/dashboard/src/server/lake/lake-extension.ts'
import { type LakeReads, LakeTroubleError } from '../../apps/dashboard/src/server/lake/lake-reads.ts'
import { LocalLake } from '../../apps/dashboard/src/server/lake/local-lake.ts'
import { readPlaces } from '../../apps/dashboard/src/server/places.ts'
import { fillLake, HOUR, logOf, runLiveInto } from '../adapters/backfill-log.ts'
import { lakeMissing, lakeSettings } from '../adapters/lake-folders.ts'
import { refuseSome } from '../adapters/refused-letters.ts'
import { violations } from '../browser/accessibility.ts'
import { DASHBOARD, LABELS, startPanelUnderTest } from '../browser/panel-under-test.ts'
import { SimulatedSource } from '../browser/simulated-source.ts'
import { MINUTE, SECOND } from '../laws/driver.ts'

/** A van's day and the fleet replay in a real browser, over a real lake and store. It is the day on which Madrid's clocks go back. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/van-page')
/** 25 October 2026 in Madrid begins at 22:00 UTC of the 24th, and has 25 hours. */
const DAY = Date.UTC(2026, 9, 24, 22)
/** By hours since its beginning; clocks show one hour less from the fourth on. */
const at = (hour: number, minute = 0) => DAY + hour * HOUR + minute * MINUTE
const NOON = at(13)
const LONG_MS = 45_000

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`no browser can be started, so the page of a van and the replay are not tested in one: ${String(error)}`)
}
mkdirSync(ARTEFACTS, { recursive: true })

let services: TestServices<{ postgres: true }>
let missing: string | null
let lake: Lake | undefined
let local: LocalLake | undefined
let serving: Serving
let panel: Awaited<ReturnType<typeof startPanelUnderTest>>
let isLakeAway = false
/** When the clock of the platform showed NOON. */
let noonMs = performance.now()
const nowMs = () => NOON + (performance.now() - noonMs)
/** What the only partition has told beyond its newest heartbeat. */
let aheadMs = 0

beforeAll(async () => {
  if (browser === null) return
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
  if (missing !== null) return
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  const inService = { plate: null, depotId: null, inServiceFromMs: null, inServiceToMs: null }
  const names = { 'furgoneta-3': 'furgoneta-3', 'furgoneta-4': 'furgoneta-4', 'furgoneta-9': 'Rocinante' }
  await serving.importVans(Object.entries(names).map(([van, name], line) => ({ line, row: { van, name, ...inService } })))
  lake = await openLake(lakeSettings(services, 'van', { inlineRows: 500 }))
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  const records = logOf(0, NOON, [
    { van: 'furgoneta-3', fromMs: at(8), toMs: NOON, offFromMs: at(9, 50), offToMs: at(10, 12) },
    { van: 'furgoneta-4', fromMs: at(9), toMs: at(10, 10) },
  ])
  await fillLake(writer, records)
  await runLiveInto(serving, writer, records)
  await refuseSome(writer, at(11))
  const placeOf = readPlaces(join(DASHBOARD, '.generated/municipalities.geo.json'))
  local = new LocalLake({ settings: lakeSettings(services, 'van'), limits: { points: 50_000, queryMs: 30_000, sampleMs: 15_000 }, placeOf })
  panel = await startPanelUnderTest(new SimulatedSource({ labelsFile: LABELS, vans: 3 }), { extensions: [extension(local)] })
  noonMs = performance.now()
})
beforeEach(() => {
  isLakeAway = false
})
afterAll(async () => {
  await browser?.close()
  await panel?.close()
  await local?.close()
  await serving?.close()
  lake?.close()
  await services?.stop()
})

function extension(reads: LakeReads) {
  const away = async () => {
    throw new LakeTroubleError({ kind: 'not-installed', says: 'Install Python 3 with pip, and start again.' })
  }
  const feed = (): PartitionFeed => {
    const heartbeatMs = Math.floor(nowMs() / (10 * SECOND)) * 10 * SECOND
    const progressMs = heartbeatMs + aheadMs
    const watermarkMs = progressMs - DEFAULT_POSITIONS_SETTINGS.delayMs
    return { partition: 0, progressMs, watermarkMs, newestHeartbeatMs: heartbeatMs, newestRecordMs: heartbeatMs }
  }
  return lakeExtension({
    serving,
    lake: {
      vanDay: (query, signal) => (isLakeAway ? away() : reads.vanDay(query, signal)),
      replay: (query, signal) => (isLakeAway ? away() : reads.replay(query, signal)),
    },
    state: {
      feed: () => ({ state: 'live', noDataSinceMs: null, trouble: null, partitions: [feed()] }),
      trail: (_scope, van) => ({ van, points: [] }),
      nextOffsets: () => new Map([[0, 10]]),
      newestOf: () => [{ van: 'furgoneta-3', eventMs: NOON - 20 * SECOND }],
      trackFor: (_scope, _van, bytes) => bytes,
      replayFor: (_scope, bytes) => bytes,
    },
    endOffsets: () => new Map([[0, 10]]),
    rules: DEFAULT_POSITIONS_SETTINGS,
    outageAfterMs: MINUTE,
    nowMs,
  })
}

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
  page.setDefaultTimeout(LONG_MS)
  await page.goto(`${url}${path}`)
  return page
}
/** Waits until it is so; a machine may be slow. */
const soon = <T>(value: () => T) => expect.poll(value, { timeout: LONG_MS })
const keep = (page: Page, name: string) => page.screenshot({ path: join(ARTEFACTS, `${name}.png`), timeout: LONG_MS })
/** What makes a page wider than its window. */
const tooWide = (page: Page) =>
  page.evaluate(() => {
    if (document.documentElement.scrollWidth <= window.innerWidth) return []
    const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
    return wide.slice(0, 8).map((element) => `${element.tagName} ${element.className}`)
  })
const sliderOf = (page: Page) => page.getByRole('slider')
const shownAt = async (page: Page) => Number(await sliderOf(page).inputValue())
const drawn = (page: Page) => page.locator('[data-drawn="true"]').first().waitFor()
const trackIsThere = (page: Page) => soon(() => page.locator('section[data-points]').first().getAttribute('data-points')).not.toBe('0')

describe.skipIf(browser === null)("a van's day", () => {
  let page: Page

  test('is a timeline, a track, windows, and what live has missed', async (context) => {
    context.skip(missing !== null, missing ?? '')
    page = await open('/furgoneta?van=furgoneta-3')
    await trackIsThere(page)
    await drawn(page)
    await page.getByText('25 hours').waitFor()
    await page.getByRole('img', { name: /^Moving \d+ minutes/ }).waitFor()
    const points = page.locator('section[data-points] ol li')
    await soon(() => page.locator('li[data-reason="tard"]').count()).toBeGreaterThan(10)
    expect(await page.locator('li[data-kind="refused"]').count()).toBe(0)
    await page.getByRole('button', { name: /\d+ more/ }).click()
    expect(await page.locator('li[data-reason="futur"]').textContent()).toContain('drawn where the van was then')
    expect(await page.locator('li[data-reason="camps"]').textContent()).toContain('data_ms')
    await points.first().locator('button').click()
    expect(await shownAt(page)).toBe(at(9, 50))
    await page.locator('section[data-clock="bursts"]').getByText('1 s').first().waitFor()
    await page.getByText('live, no backfill').waitFor()
    await keep(page, 'day-dark-1440')
    expect(await violations(page)).toEqual([])
  })

  test('goes on live, and a window that is open says what it waits for and when it closes', async (context) => {
    context.skip(missing !== null, missing ?? '')
    noonMs = performance.now()
    await page.goto(`http://127.0.0.1:${panel.port}/furgoneta?van=furgoneta-3`)
    await trackIsThere(page)
    const before = await shownAt(page)
    await soon(() => shownAt(page)).toBeGreaterThan(before)
    // The last one is open for some minutes more, however slow this machine is.
    const lastOpen = page.locator('[data-open-window]').last()
    const endMs = Number(await lastOpen.getAttribute('data-open-window'))
    expect(endMs).toBeGreaterThan(NOON)
    await page.locator(`[data-open-window="${endMs}"]`).click()
    const why = page.locator('section[data-window="open"]')
    await why.getByText('partition 0 alone').waitFor()
    await why.getByText('45 s', { exact: true }).waitFor()
    expect(['delay', 'heartbeat', 'not-over']).toContain(await why.getAttribute('data-holder'))
    const left = async () => {
      const text = (await why.getByRole('timer').locator('b').textContent()) ?? ''
      const [minutes = Number.NaN, seconds = Number.NaN] = text.split(':').map(Number)
      return minutes * 60 + seconds
    }
    const first = await left()
    await soon(left).toBeLessThan(first)
    await keep(page, 'why-dark-1440')
    expect(await violations(page)).toEqual([])
    // A record comes that is late enough.
    aheadMs = 30 * MINUTE
    await page.locator('section[data-window="final"]').waitFor()
    expect(await page.locator(`[data-open-window="${endMs}"]`).count()).toBe(0)
  })

  test('plays with the space bar, and the address tells the moment', async (context) => {
    context.skip(missing !== null, missing ?? '')
    await page.goto(`http://127.0.0.1:${panel.port}/furgoneta?van=furgoneta-3&dia=2026-10-25&t=2026-10-25T08:30`)
    await trackIsThere(page)
    expect(await shownAt(page)).toBe(at(9, 30))
    await sliderOf(page).focus()
    await page.keyboard.press('ArrowRight')
    expect(await shownAt(page)).toBe(at(9, 30) + 10 * SECOND)
    await page.keyboard.press('PageUp')
    expect(await shownAt(page)).toBe(at(10, 30) + 10 * SECOND)
    await page.getByLabel('Speed').selectOption('60')
    await sliderOf(page).focus()
    await page.keyboard.press('Space')
    await soon(() => shownAt(page)).toBeGreaterThan(at(10, 32))
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Play' }).waitFor()
    const told = () => Date.parse(new URL(page.url()).searchParams.get('t') ?? '')
    await soon(async () => Math.abs(told() - (await shownAt(page)))).toBeLessThanOrEqual(SECOND)
    await page.context().close()
  })

  test('is there on a phone, in the light, and without the lake', async (context) => {
    context.skip(missing !== null, missing ?? '')
    isLakeAway = true
    const phone = await open('/furgoneta?van=furgoneta-4&dia=2026-10-25', { width: 390, height: 844, theme: 'light', locale: 'ca' })
    await phone.locator('[data-lake="not-installed"]').getByText('Install Python 3').waitFor()
    await phone.locator('section[data-clock="unknown"]').waitFor()
    await keep(phone, 'no-lake-light-390')
    expect(await violations(phone)).toEqual([])
    expect(await tooWide(phone)).toEqual([])
    isLakeAway = false
    await phone.context().close()
  })
})

describe.skipIf(browser === null)('the fleet replay', () => {
  let page: Page
  const stateOf = (van: string) => page.locator(`li[data-van="${van}"]`).getAttribute('data-state')

  test('shows everybody at a moment: where, in what state, and who is not known', async (context) => {
    context.skip(missing !== null, missing ?? '')
    // 08:30 by the clocks of that day.
    page = await open('/reproduccio?t=2026-10-25T08:30')
    await page.locator('section[data-vans="3"]').waitFor()
    await drawn(page)
    expect(await Promise.all(['furgoneta-3', 'furgoneta-4', 'furgoneta-9'].map(stateOf))).toEqual(['moving', 'moving', 'no-data'])
    await page.locator('li[data-van="furgoneta-4"] button').click()
    await keep(page, 'replay-dark-1440')
    expect(await violations(page)).toEqual([])
    await page.getByLabel('Date and time').fill('2026-10-25T10:30')
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await soon(() => stateOf('furgoneta-4')).toBe('silent')
    expect(await page.locator('li[data-van="furgoneta-4"]').textContent()).toContain('last heard 09:09')
    await soon(() => new URL(page.url()).searchParams.get('t')).toBe('2026-10-25T09:30:00Z')
  })

  test('slides, steps and plays by keyboard, over the border of an hour', async (context) => {
    context.skip(missing !== null, missing ?? '')
    await page.goto(`http://127.0.0.1:${panel.port}/reproduccio?t=2026-10-25T08:59`)
    await soon(() => stateOf('furgoneta-4')).toBe('moving')
    await page.getByRole('button', { name: '1 minute back' }).click()
    expect(await shownAt(page)).toBe(at(9, 58))
    await page.getByLabel('Speed').selectOption('60')
    await sliderOf(page).focus()
    await page.keyboard.press('Space')
    await soon(() => shownAt(page)).toBeGreaterThan(at(10, 1))
    await page.keyboard.press('Space')
    await soon(() => page.locator('section[data-vans]').getAttribute('data-vans')).toBe('3')
    await page.locator('section[data-vans] button[data-state="no-data"]').click()
    expect(await page.locator('li[data-van]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-van')))).toEqual([
      'furgoneta-9',
    ])
    await page.context().close()
  })

  test('says what to install where there is no lake; on a phone, in the light', async (context) => {
    context.skip(missing !== null, missing ?? '')
    isLakeAway = true
    page = await open('/reproduccio?t=2026-10-24T18:00', { width: 390, height: 844, theme: 'light', locale: 'es' })
    await page.locator('[data-line="failed"]').getByText('Install Python 3').waitFor()
    expect(await violations(page)).toEqual([])
    isLakeAway = false
    await page.goto(`http://127.0.0.1:${panel.port}/reproduccio?t=2026-10-25T08:30`)
    await page.locator('section[data-vans="3"]').waitFor()
    expect(await tooWide(page)).toEqual([])
    await keep(page, 'replay-light-390')
    await page.context().close()
  })

  test("and a van's day fill a wall screen", async (context) => {
    context.skip(missing !== null, missing ?? '')
    page = await open('/furgoneta?van=furgoneta-3&dia=2026-10-25&t=2026-10-25T09:20', { width: 1920, height: 1080, theme: 'light' })
    await trackIsThere(page)
    await drawn(page)
    // Nothing is cut off: the columns scroll by themselves.
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight)).toBe(true)
    await keep(page, 'day-light-1920')
    await page.getByRole('link', { name: 'Whole fleet then' }).click()
    await page.locator('section[data-vans="3"]').waitFor()
    await drawn(page)
    expect(await shownAt(page)).toBe(at(10, 20))
    expect(await page.locator('li[data-van="furgoneta-3"] button').getAttribute('aria-pressed')).toBe('true')
    await keep(page, 'replay-light-1920')
    await page.context().close()
  })
})
