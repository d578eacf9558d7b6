// Pictures of the panel with a made-up fleet, to be looked at: `npx tsx test/browser/look.ts [FOLDER] [NAME…]`.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { EVERYTHING, type RecentPoint, type RecentPointsView } from '@km0/contracts'
import { launchBrowser } from '@km0/testkit/browser'
import type { Page } from 'playwright-core'
import type { PanelState } from '../../apps/dashboard/src/server/panel-state.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

interface Picture {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly scale?: number
  readonly theme?: 'dark' | 'light'
  readonly locale?: 'ca' | 'es' | 'en'
  readonly path?: string
  readonly act?: (page: Page, source: SimulatedSource) => Promise<void>
  readonly empty?: boolean
  readonly vans?: number
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const PICTURES: Picture[] = [
  { name: 'dark-1440', width: 1440, height: 900 },
  { name: 'light-1440', width: 1440, height: 900, theme: 'light', locale: 'es' },
  { name: 'selected-1440', width: 1440, height: 900, path: '/?van=furgoneta-44' },
  { name: 'selected-light-1440', width: 1440, height: 900, theme: 'light', path: '/?van=furgoneta-37', locale: 'en' },
  {
    name: 'acknowledge-1440',
    width: 1440,
    height: 900,
    act: async (page) => {
      await page.locator('[data-van="furgoneta-37"] button').nth(1).click()
      await wait(400)
    },
  },
  {
    name: 'search-1440',
    width: 1440,
    height: 900,
    act: async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('olot')
      await wait(300)
    },
  },
  { name: 'phone-map', width: 390, height: 844, scale: 2 },
  { name: 'phone-list', width: 390, height: 844, scale: 2, act: (page) => page.locator('nav').last().locator('button').nth(1).click() },
  {
    name: 'phone-distances',
    width: 390,
    height: 844,
    scale: 2,
    theme: 'light',
    act: (page) => page.locator('nav').last().locator('button').nth(2).click(),
  },
  { name: 'phone-selected', width: 390, height: 844, scale: 2, path: '/?van=furgoneta-44' },
  { name: 'wall-1920', width: 1920, height: 1080 },
  {
    name: 'stale-1440',
    width: 1440,
    height: 900,
    act: async (_page, source) => {
      source.stopFeed(130_000)
      await wait(2_500)
    },
  },
  { name: 'empty-1440', width: 1440, height: 900, empty: true, theme: 'light' },
]

PICTURES.push(
  { name: 'points-1440', width: 1440, height: 900, path: '/?van=furgoneta-44&layers=trails,points&map=11.40/41.98000/2.82000&follow=1' },
  { name: 'points-light-1440', width: 1440, height: 900, theme: 'light', locale: 'en', path: '/?van=furgoneta-44&layers=points&follow=1' },
  { name: 'crowd-1440', width: 1440, height: 900, vans: 10_000 },
  { name: 'crowd-light-1920', width: 1920, height: 1080, vans: 10_000, theme: 'light' },
  { name: 'singles-1440', width: 1440, height: 900, vans: 10_000, path: '/?layers=singles' },
  { name: 'menu-1440', width: 1440, height: 900, path: '/?hide=stopped', act: openMenu },
  { name: 'phone-menu', width: 390, height: 844, scale: 2, theme: 'light', locale: 'es', act: openMenu },
)

async function openMenu(page: Page): Promise<void> {
  await page.locator('[aria-controls="map-menu"]').click()
  await wait(300)
}

/** The last quarter of an hour of a van as the log has it: live, then saved up in a tunnel, one late and one refused. */
function pointsOf(panel: { readonly state: PanelState }) {
  return async (van: string): Promise<RecentPointsView> => {
    const nowMs = Date.now()
    const trail = panel.state.trail(EVERYTHING, van)?.points ?? []
    const points = trail.map(([lon, lat, eventMs], index): RecentPoint => {
      const saved = index > trail.length * 0.35 && index < trail.length * 0.6
      const verdict = index === 30 ? 'refused' : saved && index % 3 === 0 ? 'late' : 'accepted'
      const reason = verdict === 'accepted' ? null : verdict === 'late' ? 'tard' : 'futur'
      return { lon: lon + (verdict === 'refused' ? 0.02 : 0), lat, eventMs, arrivalMs: eventMs + (saved ? 240_000 : 900), verdict, reason }
    })
    return { van, nowMs, fromMs: nowMs - 900_000, points, truncated: false }
  }
}

const [folder = join(import.meta.dirname, '../artefacts/look'), ...names] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const browser = await launchBrowser()
for (const picture of PICTURES) {
  if (names.length > 0 && !names.some((name) => picture.name.includes(name))) continue
  const source = new SimulatedSource({
    labelsFile: LABELS,
    vans: picture.vans ?? 140,
    silent: { 95: 39.9, 37: 26.6, 124: 16.9, 66: 7.9, 8: 5.6, 71: 3.2, 12: 1.3, 30: 2.2 },
    doubtful: [20, 21, 22, 23],
    unregistered: [66],
    neverSeen: [139, 140],
    ...(picture.empty === true ? { empty: true } : {}),
  })
  const panel: Awaited<ReturnType<typeof startPanelUnderTest>> = await startPanelUnderTest(source, {
    recentPoints: (van) => pointsOf(panel)(van),
  })
  const context = await browser.newContext({ viewport: picture, deviceScaleFactor: picture.scale ?? 1, hasTouch: picture.width < 500 })
  const url = `http://127.0.0.1:${panel.port}`
  await context.addCookies([
    { name: 'km0_theme', value: picture.theme ?? 'dark', url },
    { name: 'km0_locale', value: picture.locale ?? 'ca', url },
  ])
  const page = await context.newPage()
  page.on('console', (message) => message.type() === 'error' && console.log(picture.name, message.text()))
  page.on('pageerror', (error) => console.log(picture.name, 'page error', error.message))
  await page.goto(`${url}${picture.path ?? '/'}`)
  if (picture.empty !== true) {
    const since = panel.state.snapshot({ kind: 'all' }, Date.now()).signals.find((signal) => signal.van === 'furgoneta-124')?.sinceMs ?? 0
    await page.request.post(`${url}/api/acknowledgements`, {
      data: { van: 'furgoneta-124', sinceMs: since, note: 'He trucat: és al túnel de Bracons' },
      headers: { origin: url },
    })
  }
  await page
    .locator('[data-status="ready"]')
    .waitFor({ timeout: 90_000 })
    .catch(() => console.log(picture.name, 'the map was not ready'))
  await wait(2_500)
  await picture.act?.(page, source)
  await page.screenshot({ path: join(folder, `${picture.name}.png`), timeout: 90_000 })
  console.log(picture.name)
  await context.close()
  await panel.close()
}
await browser.close()
