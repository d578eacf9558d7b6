// The page of the ledger in a real browser: the panel's own server and pages, runs in memory, ledgers of the little platform of test/laws.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerReport, LedgerRunView } from '@km0/contracts'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LedgerRestOptions, ledgerRoutes } from '../../apps/dashboard/src/server/ledger/ledger-rest.ts'
import { ledgerOf, NO_FAULTS } from '../laws/ledger-world.ts'
import { violations } from './accessibility.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

const ARTEFACTS = join(import.meta.dirname, '../artefacts/ledger')
const WITHIN = { timeout: 60_000 }
const ASK = 'form:has(fieldset) button[type=submit]'

let browser: Browser | null = null
try {
  browser = await launchBrowser({ maps: false })
} catch (error) {
  console.warn(`no browser can be started, so the page of the ledger is not tested in one: ${String(error)}`)
}

/** Runs as the store keeps them; `step` does what a worker would. */
class Runs {
  readonly rows: LedgerRunView[] = []
  readonly reports = new Map<number, LedgerReport>()
  away = false

  async ask({ fromMs, toMs, nowMs }: { fromMs: number; toMs: number; nowMs: number }): Promise<LedgerRunView> {
    const row: LedgerRunView = {
      id: this.rows.length + 1,
      fromMs,
      toMs,
      reason: 'asked',
      actorName: null,
      askedAtMs: nowMs,
      state: 'waiting',
      progress: 0,
      startedAtMs: null,
      endedAtMs: null,
      detail: null,
      unnamed: null,
    }
    this.rows.push(row)
    return row
  }
  async cancel(id: number): Promise<boolean> {
    const isOpen = this.rows.some((row) => row.id === id && (row.state === 'waiting' || row.state === 'running'))
    if (isOpen) this.step(id, { state: 'cancelled', endedAtMs: Date.now() })
    return isOpen
  }
  async list(): Promise<LedgerRunView[]> {
    if (this.away) throw new Error('the store is away')
    return [...this.rows].reverse()
  }
  async report(id: number | null) {
    const run = [...this.rows].reverse().find((row) => row.state === 'done' && (id === null || row.id === id))
    const report = this.reports.get(run?.id ?? 0)
    return run === undefined || report === undefined ? null : { run, report }
  }
  step(id: number, change: Partial<LedgerRunView>): void {
    this.rows.splice(id - 1, 1, { ...this.rows[id - 1]!, ...change })
  }
  finish(id: number, report: LedgerReport): void {
    this.reports.set(id, { ...report, madeAtMs: Date.now() })
    this.step(id, { state: 'done', progress: 1, endedAtMs: Date.now(), unnamed: report.unnamed })
  }
}

describe.skipIf(browser === null)('the page of the ledger', () => {
  const runs = new Runs()
  const errors: string[] = []
  let panel: Awaited<ReturnType<typeof startPanelUnderTest>>
  let page: Page

  const open = async (width: number, height: number, theme: 'dark' | 'light', locale: string) => {
    const context = await browser!.newContext({ viewport: { width, height }, reducedMotion: 'reduce' })
    const url = `http://127.0.0.1:${panel.port}`
    await context.addCookies([
      { name: 'km0_theme', value: theme, url },
      { name: 'km0_locale', value: locale, url },
    ])
    const opened = await context.newPage()
    opened.on('pageerror', (error) => errors.push(error.message))
    await opened.goto(`${url}/balanc`)
    return opened
  }
  const shown = (name: string) => page.screenshot({ path: join(ARTEFACTS, `${name}.png`), fullPage: true })

  beforeAll(async () => {
    mkdirSync(ARTEFACTS, { recursive: true })
    const routes = ledgerRoutes({ runs: runs as unknown as LedgerRestOptions['runs'], platformNowMs: Date.now })
    const source = new SimulatedSource({ labelsFile: LABELS, vans: 2, silent: {}, doubtful: [], unregistered: [], neverSeen: [] })
    panel = await startPanelUnderTest(source, { extensions: [{ routes }] })
    page = await open(1440, 900, 'dark', 'ca')
  })
  afterAll(async () => {
    await panel?.close()
    await browser?.close()
  })

  test('says that there is none yet, and asks for one by keyboard alone', async () => {
    await page.getByText('Encara no hi ha cap balanç').waitFor(WITHIN)
    await page.locator('[data-span]').waitFor({ state: 'detached', ...WITHIN })
    await page.locator('input[value="hour"]').focus()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('input[value="six"]').isChecked()).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-state="waiting"]').waitFor(WITHIN)
    expect(runs.rows.map(({ fromMs, toMs }) => toMs - fromMs)).toEqual([6 * 3_600_000])
  })

  test('shows how far it is, then the ledger with its age', async () => {
    runs.step(1, { state: 'running', progress: 0.4, startedAtMs: Date.now() })
    await page.locator('[data-state="running"] progress[value="0.4"]').waitFor(WITHIN)
    await shown('running')
    runs.finish(1, ledgerOf({ ...NO_FAULTS, twins: 3 }))
    await page.locator('[data-balanced="true"] h1').waitFor(WITHIN)
    expect(await page.locator('[data-station]').count()).toBe(9)
    expect(await page.locator('[data-step="rebuts-confirmats"] [data-cause="bessons"] td').textContent()).toMatch(/[-−]3/)
    await page.getByText(/^fet fa \d+ (s|min)$/).waitFor(WITHIN)
    await shown('balanced')
  })

  test('shows what is unnamed in red, first, and by van what the broker lost', async () => {
    await page.locator(ASK).click()
    await page.locator('[data-state="waiting"]').waitFor(WITHIN)
    runs.finish(2, ledgerOf({ ...NO_FAULTS, brokerLoses: 5, servingLoses: 7 }))
    await page.locator('h1', { hasText: '7 sense nom' }).waitFor(WITHIN)
    const first = page.locator('[data-step]').first()
    expect(await first.getAttribute('data-step')).toBe('resultats-desats')
    expect(await first.getAttribute('data-balanced')).toBe('false')
    await page.getByText('Perduts al broker, per furgoneta').waitFor(WITHIN)
    await shown('unnamed')
    // The one before can be looked at again; the list stays while it is fetched.
    await page.locator('[data-run="1"]').click()
    await page.locator('[data-balanced="true"] h1').waitFor(WITHIN)
    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-run'))).toBe('1')
  })

  test('cancels one that waits', async () => {
    await page.locator('input[value="day"]').check()
    await page.locator(ASK).click()
    await page.locator('[data-state="waiting"] button').click()
    await page.getByText('aturat').waitFor(WITHIN)
    expect(runs.rows.at(-1)).toMatchObject({ state: 'cancelled' })
  })

  test.each([
    ['dark', 1440, 'ca'],
    ['light', 1440, 'es'],
    ['light', 390, 'en'],
    ['dark', 390, 'ca'],
  ] as const)('has no fault of accessibility, %s at %i pixels (%s), and fits', async (theme, width, locale) => {
    const other = await open(width, 844, theme, locale)
    await other.locator('[data-balanced] h1').first().waitFor(WITHIN)
    expect(await violations(other)).toEqual([])
    expect(await other.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    await other.screenshot({ path: join(ARTEFACTS, `${theme}-${width}.png`), fullPage: true })
    await other.context().close()
  })

  test('says that it is old when no answer comes any more, and what went wrong at the first', async () => {
    runs.away = true
    const fresh = await open(1440, 900, 'dark', 'en')
    await fresh.getByText('The panel does not answer').waitFor(WITHIN)
    await fresh.context().close()
    await page.locator('[data-kind="stale"]').waitFor({ timeout: 60_000 })
    await page.getByText('no se’n sap res de nou').waitFor(WITHIN)
    await shown('stale')
    runs.away = false
    expect(errors).toEqual([])
  })
})
