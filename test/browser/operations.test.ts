// Operations, data out and the menus of pages in a real browser: the panel's own server and pages, programs that answer over HTTP, stores in memory.
import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CHECKPOINTS_LOCAL,
  type DeliveryView,
  LATENESS_STEPS_MS,
  type LedgerRunView,
  latenessStep,
  type SubscriptionView,
} from '@km0/contracts'
import { Counter, Gauge, Health, type OperationsServer, Registry, serveOperations } from '@km0/runtime'
import { newSecretsKey, openSecretBox, type StoredLatenessHour } from '@km0/serving'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportsRoutes } from '../../apps/dashboard/src/server/data-out/exports-rest.ts'
import { type SubscriptionsOptions, subscriptionsRoutes } from '../../apps/dashboard/src/server/data-out/subscriptions-rest.ts'
import { OperationsExtension } from '../../apps/dashboard/src/server/operations/operations-extension.ts'
import { violations } from './accessibility.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

const ARTEFACTS = join(import.meta.dirname, '../artefacts/operations')
const WITHIN = { timeout: 60_000 }
const HOUR = 3_600_000

let browser: Browser | null = null
try {
  browser = await launchBrowser({ maps: false })
} catch (error) {
  console.warn(`no browser can be started, so operations and data out are not tested in one: ${String(error)}`)
}

/** A program that says how it is. */
async function program(status: 'ok' | 'degraded', detail: string, fill: (metrics: Registry) => void): Promise<OperationsServer> {
  const [health, metrics] = [new Health(), new Registry()]
  health.register('checkpoints', () => ({ status, detail }))
  fill(metrics)
  return serveOperations({ host: '127.0.0.1', port: 0, health, metrics })
}

function hour(hourMs: number, latenesses: readonly number[]): StoredLatenessHour {
  const counts = new Array<number>(LATENESS_STEPS_MS.length + 1).fill(0)
  for (const lateness of latenesses) counts[latenessStep(lateness)]! += 1
  return { hourMs, points: latenesses.length, late: 1, partlyLate: 3, counts, refused: { futur: 4, json: 9 }, measuredAtMs: hourMs + HOUR }
}

/** Subscriptions and deliveries as the store keeps them. */
class Store {
  readonly subscriptions: SubscriptionView[] = []
  deliveries: DeliveryView[] = []
  away = false
  async createSubscription(
    given: Omit<SubscriptionView, 'id' | 'ownerName' | 'createdAtMs' | 'standing'> & { readonly owner: { readonly name: string } },
  ) {
    const row = {
      ...given,
      id: this.subscriptions.length + 1,
      ownerName: given.owner.name,
      createdAtMs: Date.now(),
      depots: null,
      markets: null,
      standing: 'active' as const,
    }
    this.subscriptions.push(row)
    return row
  }
  async listSubscriptions() {
    if (this.away) throw new Error('the store is away')
    return this.subscriptions
  }
  async removeSubscription(_viewer: unknown, id: number) {
    this.subscriptions.splice(id - 1, 1)
    return true
  }
  async listDeliveries() {
    return this.deliveries
  }
  async sendAgain(_viewer: unknown, id: number) {
    this.deliveries = this.deliveries.map((row) => (row.id === id ? { ...row, state: 'waiting' as const, attempts: 0 } : row))
    return true
  }
  async addDeliveries(rows: readonly { readonly subscriptionId: number; readonly key: string; readonly kind: 'report' | 'test' }[]) {
    for (const { subscriptionId, key, kind } of rows) {
      this.deliveries = [
        {
          ...{ id: this.deliveries.length + 1, subscriptionId, subscriptionName: 'Torn de matí', channel: 'webhook' as const, key, kind },
          ...{
            state: 'dead' as const,
            attempts: 10,
            createdAtMs: Date.now(),
            triedAtMs: Date.now(),
            answer: '503 the receiver is being mended',
          },
        },
        ...this.deliveries,
      ]
    }
  }
}

describe.skipIf(browser === null)('operations and data out', () => {
  const store = new Store()
  const errors: string[] = []
  let panel: Awaited<ReturnType<typeof startPanelUnderTest>>
  let stream: OperationsServer
  let bridge: OperationsServer | undefined
  let page: Page

  const open = async (path: string, width: number, height: number, theme: 'dark' | 'light' = 'dark', locale = 'ca') => {
    const context = await browser!.newContext({ viewport: { width, height }, reducedMotion: 'reduce' })
    const url = `http://127.0.0.1:${panel.port}`
    await context.addCookies([
      { name: 'km0_theme', value: theme, url },
      { name: 'km0_locale', value: locale, url },
    ])
    const opened = await context.newPage()
    opened.on('pageerror', (error) => errors.push(error.message))
    await opened.goto(url + path)
    return opened
  }
  const shown = (name: string, of = page) => of.screenshot({ path: join(ARTEFACTS, `${name}.png`), fullPage: true })

  beforeAll(async () => {
    mkdirSync(ARTEFACTS, { recursive: true })
    stream = await program('ok', `/var/km0/checkpoints: ${CHECKPOINTS_LOCAL}, which only this machine sees`, (metrics) => {
      const gauge = (name: string, value: number) =>
        new Gauge({ name, help: name, labelNames: ['partition'], registers: [metrics] }).set({ partition: 0 }, value)
      gauge('km0_stream_lag_seconds', 1.4)
      gauge('km0_stream_checkpoint_age_seconds', 12)
      gauge('km0_stream_checkpoint_bytes', 48_000)
      new Gauge({ name: 'km0_stream_backpressure_ratio', help: 'x', registers: [metrics] }).set(0.02)
    })
    bridge = await program('degraded', 'the broker lets us hear nothing', (metrics) => {
      new Counter({ name: 'km0_bridge_refused_total', help: 'x', labelNames: ['reason'], registers: [metrics] }).inc({ reason: 'json' }, 2)
    })
    const source = new SimulatedSource({ labelsFile: LABELS, vans: 12, silent: {}, doubtful: [], unregistered: [], neverSeen: [] })
    const programs = new Map([
      ['stream-positions', `http://127.0.0.1:${stream.port}/health`],
      ['bridge', `http://127.0.0.1:${bridge.port}/health`],
    ])
    const nowHour = Math.floor(Date.now() / HOUR) * HOUR
    const points = [...Array.from({ length: 990 }, (_, n) => n * 8), ...Array.from({ length: 10 }, (_, n) => 46_000 + n * 2_000)]
    const run = { id: 1, state: 'done', unnamed: 0, fromMs: nowHour - HOUR, toMs: nowHour, endedAtMs: Date.now() - 60_000 } as LedgerRunView
    // The panel's state is there once its server is.
    const state: ConstructorParameters<typeof OperationsExtension>[0]['state'] = {
      feed: (nowMs) => panel.state.feed(nowMs),
      nextOffsets: () => panel.state.nextOffsets(),
      nowMs: (nowMs) => panel.state.nowMs(nowMs),
    }
    const operations = new OperationsExtension({
      ...{ state, source, programs, ledgers: { list: async () => [run] } },
      lateness: { read: async () => [hour(nowHour - HOUR, points)] },
    })
    const routes = new Map([
      ...subscriptionsRoutes({
        store: store as unknown as SubscriptionsOptions['store'],
        channels: async () => ({ webhook: true, email: true, folder: false }),
        secrets: openSecretBox({ text: newSecretsKey() }),
      }),
      ...exportsRoutes({
        state: {
          snapshot: (scope, nowMs) => panel.state.snapshot(scope, nowMs),
          nowMs: (nowMs) => panel.state.nowMs(nowMs),
          isKnown: (van) => panel.state.isKnown(van),
          mayPassVan: (scope, van) => panel.state.mayPassVan(scope, van),
          nameFor: (scope, van) => panel.state.nameFor(scope, van),
          vanNamed: (scope, name) => panel.state.vanNamed(scope, name),
          pointsFor: (scope, van, points) => panel.state.pointsFor(scope, van, points),
        },
        serving: { readTrack: async () => [] },
        stock: { read: async () => ({ episodes: [], low: [], notices: [], markets: [], watermarkMs: null }) },
      }),
    ])
    panel = await startPanelUnderTest(source, { extensions: [operations, { routes }], programs })
    page = await open('/operacions', 1440, 900)
  })
  afterAll(async () => {
    await panel?.close()
    await Promise.all([stream?.close(), bridge?.close()])
    await browser?.close()
  })

  test('the page of operations says how each program is, in its words, and what to do', async () => {
    await page.locator('[data-service="bridge"][data-mark="watch"]').waitFor(WITHIN)
    expect(await page.locator('[data-service="bridge"]').textContent()).toContain('the broker lets us hear nothing')
    expect(await page.locator('#verdict').textContent()).toMatch(/per mirar/)
    await page.getByText('Els punts de control són en una carpeta local.').waitFor(WITHIN)
    const row = page.locator('[data-partition="0"]')
    await row.waitFor(WITHIN)
    expect(await row.textContent()).toMatch(/1,4 s/)
    expect(await row.textContent()).toMatch(/12 s\s*47 KiB/)
  })

  test('it tells what the delay covers, and what another would', async () => {
    const sentence = page.locator('[data-sentence]')
    await sentence.waitFor(WITHIN)
    expect((await sentence.textContent())?.replaceAll(/\s/g, ' ')).toBe(
      '45 s cobreixen el 99 %. 60 s en cobririen el 99,8 % i farien els resultats 15 s més vells.',
    )
    expect(await page.locator('[data-reason="json"]').textContent()).toContain('9')
    await page.getByText('Quadra').waitFor(WITHIN)
    await shown('operations-1440-dark')
  })

  test('a program that has gone is silent, and the page says what that means', async () => {
    await bridge?.close()
    bridge = undefined
    await page.locator('[data-service="bridge"][data-mark="wrong"]').waitFor(WITHIN)
    expect(await page.locator('[data-service]').first().getAttribute('data-service')).toBe('bridge')
    expect(await page.locator('[data-service="bridge"]').textContent()).toContain('Sense pont no entra cap posició')
  })

  test('menus of pages work by keyboard, and fit a phone', async () => {
    const nav = page.getByRole('navigation', { name: 'Pàgines' })
    const opener = nav.getByRole('button', { name: 'Anàlisi' })
    await opener.focus()
    await page.keyboard.press('Enter')
    expect(await opener.getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => document.activeElement?.closest('ul')?.id)
    expect(focused).toBe('pages-analyse')
    await page.keyboard.press('Escape')
    expect(await opener.getAttribute('aria-expanded')).toBe('false')
    expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true)
    const phone = await open('/operacions', 390, 844, 'light', 'es')
    await phone.locator('[data-partition="0"]').waitFor(WITHIN)
    await phone.getByRole('button', { name: /Páginas/ }).click()
    await phone.getByRole('link', { name: 'Datos', exact: true }).waitFor(WITHIN)
    await shown('menu-390-light', phone)
    expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    expect(await violations(phone)).toEqual([])
    await phone.keyboard.press('Escape')
    await shown('operations-390-light', phone)
    await phone.context().close()
  })

  test('somebody subscribes a webhook, sees its secret once, sends a test and has it sent again', async () => {
    await page.goto(`http://127.0.0.1:${panel.port}/dades`)
    await page.getByText('Ningú no rep res encara').waitFor(WITHIN)
    await shown('data-out-empty')
    await page.getByRole('button', { name: 'Nova subscripció' }).click()
    await page.keyboard.type('Torn de matí')
    await page.getByLabel('Adreça').fill('https://example.com/avisos')
    expect(await page.getByRole('radio', { name: /Carpeta/ }).isDisabled()).toBe(true)
    await page.getByLabel('Informe diari per furgoneta').check()
    await shown('subscription-form')
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.locator('[data-secret]').waitFor(WITHIN)
    expect(store.subscriptions).toMatchObject([{ name: 'Torn de matí', reportMinutes: 360, kinds: ['no-signal', 'returned', 'low-stock'] }])
    await page.getByRole('button', { name: 'Fet' }).click()
    await page.getByRole('button', { name: 'Envia una prova a Torn de matí' }).click()
    await page.locator('[data-delivery="1"][data-state="dead"]').waitFor(WITHIN)
    await shown('data-out-1440-dark')
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: /^Torna a enviar test/ }).click()
    await page.locator('[data-delivery="1"][data-state="waiting"]').waitFor(WITHIN)
  })

  test('what is on the screen is downloaded as a file', async () => {
    await page.getByLabel('Per a fulls de càlcul (amb BOM)').check()
    const [download] = await Promise.all([page.waitForEvent('download', WITHIN), page.getByRole('link', { name: 'Flota en CSV' }).click()])
    expect(download.suggestedFilename()).toMatch(/^km0-fleet-.*\.csv$/)
    const text = await readFile(await download.path(), 'utf8')
    expect(text.startsWith('\uFEFFvan,name,plate,depot,state,lat,lon')).toBe(true)
    expect(text.trimEnd().split('\r\n')).toHaveLength(13)
  })

  test('a store that is away is said, and what is known stays, with its age', async () => {
    store.away = true
    await page
      .getByText(/Sense resposta nova/)
      .first()
      .waitFor({ timeout: 30_000 })
    expect(await page.locator('[data-subscription]').count()).toBe(1)
    const fresh = await open('/dades', 1440, 900)
    await fresh.getByText('El tauler no respon').waitFor(WITHIN)
    await fresh.context().close()
    store.away = false
    await page.getByText('Al dia').waitFor(WITHIN)
  })

  test('every page is without violations in both themes, on wall and phone', async () => {
    for (const [path, width, height, theme] of [
      ['/operacions', 1920, 1080, 'light'],
      ['/operacions', 390, 844, 'dark'],
      ['/dades', 1920, 1080, 'light'],
      ['/dades', 390, 844, 'light'],
    ] as const) {
      const one = await open(path, width, height, theme, 'en')
      await one.locator(path === '/dades' ? '[data-subscription]' : '[data-partition="0"]').waitFor(WITHIN)
      expect(await violations(one), `${path} ${theme}`).toEqual([])
      expect(await one.evaluate(() => document.documentElement.scrollWidth), `${path} ${width}`).toBeLessThanOrEqual(width)
      await shown(`${path.slice(1)}-${width}-${theme}`, one)
      await one.context().close()
    }
    const fleet = await open('/', 1440, 900)
    await fleet.locator('[data-counter="moving"]').waitFor(WITHIN)
    expect(await fleet.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1_440)
    await shown('fleet-1440', fleet)
    await fleet.context().close()
    expect(errors).toEqual([])
  })
})
