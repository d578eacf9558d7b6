import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_DISPATCH_LIMITS, EVERYTHING, encodeSource, TOPICS } from '@km0/contracts'
import { type Dispatch, openDispatch, openServing, type Serving } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { launchBrowser } from '@km0/testkit/browser'
import { startServices, type TestServices } from '@km0/testkit/services'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dispatchExtension } from '../../apps/dashboard/src/server/dispatch/dispatch-extension.ts'
import type { PanelState } from '../../apps/dashboard/src/server/panel-state.ts'
import { sessionFor, testSignIn } from '../../apps/dashboard/src/server/sign-in/sessions.testbench.ts'
import { violations } from './accessibility.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

/** What a dispatcher does all shift, in a real browser over a real store: off shift, mutes, the register, notices, hand-over. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/dispatch')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const WAIT = { timeout: 60_000 }
/** Wednesday, 12:30 in Madrid, whenever the test runs; from there on time passes as it does. */
const START = Date.UTC(2026, 10, 25, 11, 30)
let offsetMs = START - Date.now()
const nowMs = () => Date.now() + offsetMs

let browser: Browser | null = null
try {
  browser = await launchBrowser({ maps: false })
} catch (error) {
  console.warn(`no browser can be started, so dispatch is not tested in one: ${String(error)}`)
}
mkdirSync(ARTEFACTS, { recursive: true })

let services: TestServices<{ postgres: true }>
let serving: Serving
let dispatch: Dispatch
let pool: Pool
let source: SimulatedSource
let panel: Awaited<ReturnType<typeof startPanelUnderTest>>
let url: string
let desk: Page
let other: Page
const contexts: BrowserContext[] = []

async function open(
  path: string,
  look: { readonly theme?: 'dark' | 'light'; readonly width?: number; readonly who?: string } = {},
): Promise<Page> {
  // Maps are drawn by software here: small ones, that do not move, leave the machine to the lists.
  const width = look.width ?? 1110
  const viewport = { width, height: width === 390 ? 844 : width === 1110 ? 700 : 900 }
  const context = await (browser as Browser).newContext({ viewport, reducedMotion: 'reduce' })
  contexts.push(context)
  await context.addCookies([
    { name: 'km0_theme', value: look.theme ?? 'dark', url },
    { name: 'km0_locale', value: 'en', url },
    ...(look.who === undefined ? [] : [{ name: 'who', value: look.who, url }]),
  ])
  // What the browser would show, to be counted; and it lets us.
  await context.addInitScript(() => {
    const shown: string[] = []
    class Shown {
      static permission = 'default'
      static async requestPermission() {
        Shown.permission = 'granted'
        return 'granted'
      }
      onclick: unknown = null
      constructor(title: string) {
        shown.push(title)
      }
      close() {}
    }
    Object.assign(window, { Notification: Shown, shown })
  })
  const page = await context.newPage()
  await page.goto(`${url}${path}`)
  return page
}
const row = (page: Page, van: string) => page.locator(`li[data-van="${van}"][data-band]`)
const keep = (page: Page, name: string) => page.screenshot({ path: join(ARTEFACTS, `${name}.png`) })
const csvFile = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })

async function fillStore(): Promise<void> {
  const square = (lon: number, lat: number) =>
    `"${JSON.stringify({
      type: 'Polygon',
      coordinates: [
        [
          [lon, lat],
          [lon + 1, lat],
          [lon + 1, lat + 1],
          [lon, lat],
        ],
      ],
    }).replaceAll('"', '""')}"`
  const vans = Array.from(
    { length: 20 },
    (_, n) => `furgoneta-${n + 1},furgoneta-${n + 1},${n + 1 === 7 ? 'nit' : n + 1 === 2 ? 'lluny' : 'girona'},`,
  )
  for (const [kind, csv] of [
    ['markets', `id,name,zone\nlluny,Lluny,${square(-8, 36)}\n`],
    // Far from where vans drive: nobody is at the depot by chance.
    ['depots', 'id,name,lat,lon,markets\ngirona,Girona,43.4,0.5,\nnit,Nit,43.4,0.5,\nlluny,Lluny,43.4,0.5,lluny\n'],
    ['shifts', 'depot,day,start,end\ngirona,mon-sun,00:00,00:00\nnit,mon-sun,,\n'],
    ['vans', `van,name,depot,in_service_to\n${vans.join('\n')}\nvella,Vella,girona,2026-06-30\n`],
  ] as const) {
    expect(await dispatch.importCsv(kind, csv)).not.toHaveProperty('problems')
  }
  // Van 11 was silent for 22 minutes, it was thought; its points have come since, one every ten seconds.
  const [sinceMs, endedMs] = [START - 23 * MINUTE, START - MINUTE]
  await pool.query(
    `insert into km0.no_signal_episode (van, since_ms, ended_ms, epoch, source_partition, source_offset) values ('furgoneta-11', $1, $2, 1, 0, 1)`,
    [sinceMs, endedMs],
  )
  const records = Array.from({ length: 131 }, (_, n) => {
    const value = { motiu: 'tard', data_ms: sinceMs + (n + 1) * 10_000, finestres_tancades: 5 }
    return {
      offset: n,
      key: 'furgoneta-11',
      value: Buffer.from(JSON.stringify(value)),
      headers: encodeSource({ epoch: 1, partition: 0, offset: n }),
    }
  })
  await serving.applyLateBatch({ topic: TOPICS.late.name, partition: 0, nextOffset: 131, clusterId: 'c', records, writtenAtMs: START })
  // In this hour van 1 never went further than a millimetre.
  const hourMs = Math.floor(START / HOUR) * HOUR
  await pool.query('insert into km0.usual_hour (hour_ms, computed_at_ms) values ($1, $1)', [hourMs])
  await pool.query(
    `insert into km0.usual_distance (hour_ms, van, p99_mm, windows, computed_at_ms) select $1, 'furgoneta-' || n, 0, 240, $1 from generate_series(1, 6) n`,
    [hourMs],
  )
}

describe.skipIf(browser === null)('dispatch', () => {
  beforeAll(async () => {
    services = await startServices({ postgres: true })
    const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
    serving = openServing(options)
    dispatch = openDispatch(options)
    pool = new Pool(options)
    await serving.migrate()
    await fillStore()
    source = new SimulatedSource({ labelsFile: LABELS, vans: 20, nowMs, silent: { 3: 20, 5: 70, 7: 20, 9: 5 } })
    let state: PanelState | null = null
    const signIn = testSignIn([sessionFor('Pau', 'dispatcher')])
    const extension = dispatchExtension({
      // The panel's state is made with its server.
      state: { apply: (event: Parameters<PanelState['apply']>[0]) => state?.apply(event) ?? false } as PanelState,
      ...{ store: dispatch, limits: DEFAULT_DISPATCH_LIMITS, nowMs, everyMs: 500 },
      onTrouble: (error) => console.error(error),
    })
    panel = await startPanelUnderTest(source, { nowMs, signIn, extensions: [extension] })
    state = panel.state
    url = `http://127.0.0.1:${panel.port}`
    desk = await open('/')
    other = await open('/?view=no-signal', { who: 'Pau', width: 390 })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await panel?.close()
    await Promise.all([serving, dispatch, pool].map((store) => store?.close()))
    await services?.stop()
  })

  test('silences have steps; who is off shift or out of service is in a counted line, which opens', async () => {
    await expect.poll(() => row(desk, 'furgoneta-5').getAttribute('data-band'), WAIT).toBe('very-long')
    await expect.poll(() => row(desk, 'furgoneta-3').getAttribute('data-band'), WAIT).toBe('long')
    await expect.poll(() => row(desk, 'furgoneta-9').getAttribute('data-step'), WAIT).toBe('1')
    const line = desk.locator('details[data-away]')
    await expect.poll(() => line.locator('summary').textContent(), WAIT).toBe('1 off shift · 1 out of service')
    expect(await row(desk, 'furgoneta-7').count()).toBe(0)
    await expect.poll(() => desk.locator('[data-counter="no-signal"]').textContent(), WAIT).toBe('3')
    await line.locator('summary').click()
    await line.getByRole('button', { name: /furgoneta-7/ }).waitFor(WAIT)
    // Heard off shift: shown, and named first.
    source.wake('furgoneta-7')
    await expect.poll(() => line.locator('summary').textContent(), WAIT).toBe('1 out of service · 1 heard off shift')
    source.silence('furgoneta-7', 20 * MINUTE)
    await line.locator('summary').click()
  })

  test('what was known then and is known now', async () => {
    const returned = desk.locator('[data-returned="furgoneta-11"]')
    await returned.getByText('known then: 22 min of silence; known now: a 10 s gap, reported late').waitFor(WAIT)
    expect(await returned.textContent()).toContain('after 22:00')
  })

  test('a mute is shared at once, counted, and lifted', async () => {
    await row(other, 'furgoneta-3').getByRole('button', { name: 'Mute furgoneta-3' }).click()
    const dialog = other.getByRole('dialog')
    await dialog.getByLabel('eight hours').check()
    await dialog.getByLabel('Why').fill('at the workshop')
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click()
    await dialog.waitFor({ state: 'hidden', ...WAIT })
    await row(desk, 'furgoneta-3').waitFor({ state: 'detached', ...WAIT })
    const line = desk.locator('details[data-mutes]')
    await expect.poll(() => line.locator('summary').textContent(), WAIT).toBe('1 muted · one without signal')
    await line.locator('summary').click()
    expect(await line.textContent()).toMatch(/furgoneta-3 until 20:3\d.*Pau, 12:3\d — at the workshop/)
    await line.getByRole('button', { name: 'Stop muting furgoneta-3' }).click()
    await row(other, 'furgoneta-3').waitFor(WAIT)
    await line.waitFor({ state: 'detached', ...WAIT })
  })

  test('the card of a van mutes its depot beforehand, and says so', async () => {
    await row(desk, 'furgoneta-3').locator('button').first().click()
    const card = desk.getByRole('region', { name: 'furgoneta-3' })
    await card.getByRole('button', { name: 'Mute furgoneta-3' }).click()
    const dialog = desk.getByRole('dialog')
    await dialog.getByLabel('the whole depot').check()
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click()
    await card.getByRole('button', { name: /^Stop muting the whole depot/ }).click(WAIT)
    await card.getByRole('button', { name: 'Mute furgoneta-3' }).waitFor(WAIT)
    await card.getByRole('button', { name: 'Close furgoneta-3' }).click()
  })

  test('distances say who stands, who deviates and why', async () => {
    const far = desk.locator('tr[data-deviates="true"] [data-deviation="far"]').first()
    await far.waitFor(WAIT)
    expect(await far.textContent()).toMatch(
      /^Deviates: [\d.]+ km; 99 % of its windows in this hour of the week are at most .* \(240 windows\)$/,
    )
    await desk.locator('tr[data-van="furgoneta-2"] [data-deviation="outside"]').waitFor(WAIT)
    await desk.getByRole('button', { name: 'Day', exact: true }).click()
    await desk.getByText('00:00 to 12:3').waitFor(WAIT)
    await desk.getByRole('button', { name: '5 min', exact: true }).click()
  })

  test('a file is looked at line by line, stored whole or not at all, and what changed is on every open panel', async () => {
    const register = await open('/flota')
    await register.getByRole('button', { name: 'Import a CSV' }).click()
    const dialog = register.getByRole('dialog')
    await dialog
      .locator('input[type=file]')
      .setInputFiles(csvFile('bad.csv', 'van,name,in_service_from\nfurgoneta-5,Nova,\nx,,soon\n,Y,\n'))
    await dialog.getByText('2 lines are wrong: nothing will be stored').waitFor(WAIT)
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('Line 3:'),
      expect.stringContaining('Line 4:'),
    ])
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await dialog
      .locator('input[type=file]')
      .setInputFiles(csvFile('good.csv', 'van,name,depot\nfurgoneta-5,Nova,girona\nfurgoneta-99,Noranta-nou,girona\n'))
    await dialog.getByText('Will change: 1 new, 1 changed, 0 as they are').waitFor(WAIT)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Saved: 1 new, 1 changed').waitFor(WAIT)
    await row(desk, 'furgoneta-5').getByText('Nova').waitFor(WAIT)
    await dialog.getByRole('button', { name: 'Close' }).click()

    // By keyboard: the row becomes fields, Enter stores.
    await register.locator('tr[data-van="furgoneta-5"]').getByRole('button', { name: 'Edit Nova' }).press('Enter')
    await register.getByLabel('Name of Nova').fill('Cinquena')
    await register.getByLabel('Plate of Nova').fill('5555 BCN')
    await register.getByLabel('Plate of Nova').press('Enter')
    await row(desk, 'furgoneta-5').getByText('Cinquena').waitFor(WAIT)
    await register.locator('tr[data-van="furgoneta-5"]').getByRole('button', { name: 'Edit Cinquena' }).click()
    await register.getByRole('button', { name: 'Retire' }).click()
    await row(desk, 'furgoneta-5').waitFor({ state: 'detached', ...WAIT })
    await expect.poll(() => desk.locator('details[data-away] summary').textContent(), WAIT).toContain('2 out of service')
    expect(await (await register.request.get(`${url}/api/register.csv?kind=vans`)).text()).toContain(
      'furgoneta-5,Cinquena,5555 BCN,girona,,2026-11-24\r\n',
    )

    const reader = await open('/flota?part=shifts', { who: 'Pau' })
    await reader.getByText('Only administrators may change it.').waitFor(WAIT)
    expect(await reader.getByRole('button', { name: 'Import a CSV' }).count()).toBe(0)
    await expect.poll(() => reader.locator('[data-calendar="nit"]').getAttribute('data-on'), WAIT).toBe('false')
  })

  test('depots and calendars are made by forms, which say what is wrong and keep what was typed', async () => {
    const register = await open('/flota?part=depots')
    await register.getByRole('button', { name: 'Add a depot' }).click()
    const dialog = register.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Sant Feliu de Guíxols')
    await dialog.getByLabel('Place: latitude, longitude').fill('41,78, 3,03')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('is not latitude and longitude with a decimal point').waitFor(WAIT)
    await dialog.getByLabel('Place: latitude, longitude').fill('41.78, 3.03')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await register.locator('tr[data-depot="sant-feliu-de-guixols"]').waitFor(WAIT)
    await register.getByRole('button', { name: /^Shifts/ }).click()
    await register.getByRole('button', { name: 'Edit Sant Feliu de Guíxols' }).click()
    await dialog.getByLabel('Mon').fill('6-14, 15')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('are not hours like').waitFor(WAIT)
    await dialog.getByLabel('Mon').fill('6-14, 15-21.30')
    await dialog.getByRole('button', { name: 'Tuesday to Friday like Monday' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    const calendar = register.locator('[data-calendar="sant-feliu-de-guixols"]')
    await expect.poll(() => calendar.textContent(), WAIT).toContain('06:00–14:0015:00–21:30')
    await register.getByRole('button', { name: /^Depots/ }).click()
    await register.getByRole('button', { name: 'Edit Sant Feliu de Guíxols' }).click()
    await dialog.getByRole('button', { name: 'Remove it' }).click()
    await dialog.getByRole('button', { name: 'Sure? Remove it' }).click()
    await register.locator('tr[data-depot="sant-feliu-de-guixols"]').waitFor({ state: 'detached', ...WAIT })
    await register.close()
  })

  test('who takes over sees what is open, who is on it, and what changed since', async () => {
    await row(desk, 'furgoneta-3').getByRole('button', { name: 'Acknowledge the silence of furgoneta-3' }).click()
    await desk.getByRole('dialog').getByLabel('Note').fill('called, in the tunnel')
    await desk.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    const page = await open('/relleu?from=12:00')
    await page.locator('li[data-van="furgoneta-3"]').getByText('called, in the tunnel').waitFor(WAIT)
    await page.locator('li[data-van="furgoneta-9"]').getByText('Nobody is on it').waitFor(WAIT)
    await expect
      .poll(
        () =>
          page.locator('li[data-change]').evaluateAll((lines) =>
            lines
              .map((line) => line.getAttribute('data-change'))
              .sort()
              .join(),
          ),
        WAIT,
      )
      .toBe('muted,muted,new,returned,unmuted,unmuted')
    expect(await page.locator('li[data-change="new"]').textContent()).toContain(
      'known then: 22 min of silence; known now: a 10 s gap, reported late',
    )
    await page.getByLabel('Since').fill('12:29')
    await expect.poll(() => new URL(page.url()).search, WAIT).toBe('?from=12:29')
    await expect.poll(() => page.locator('li[data-change="new"]').count(), WAIT).toBe(0)
  })

  test('notifications are asked for, remembered, and told once a step', async () => {
    await other.getByRole('button', { name: 'Browser notifications' }).click()
    await expect.poll(() => other.getByRole('button', { name: 'Browser notifications' }).getAttribute('aria-pressed'), WAIT).toBe('true')
    expect(await other.evaluate(() => localStorage.getItem('km0_notices'))).toContain('"notification":true')
    const shown = () => other.evaluate(() => (window as unknown as { shown: string[] }).shown)
    expect(await shown()).toEqual([])
    source.silence('furgoneta-13')
    // Twice 100 seconds: nobody else is without a point for three minutes.
    for (const _ of [1, 2]) {
      offsetMs += 100_000
      const fresh = () => panel.state.snapshot(EVERYTHING, nowMs()).points.filter(({ eventMs }) => eventMs > nowMs() - 60_000).length
      await expect.poll(fresh, WAIT).toBeGreaterThanOrEqual(14)
    }
    await expect.poll(shown, WAIT).toEqual(['No signal: furgoneta-13'])
    const age = () => row(other, 'furgoneta-13').locator('time').first().textContent()
    const before = await age()
    await expect.poll(age, WAIT).not.toBe(before)
    expect(await shown()).toEqual(['No signal: furgoneta-13'])
  })

  // The fleet's page, whose map takes the time, is looked at in panel.test.ts.
  test.each(['dark', 'light'] as const)('each page is for everybody, and fits a phone (%s)', async (theme) => {
    // Maps that are still open would take the time.
    for (const context of contexts.splice(0)) await context.close()
    for (const [name, path] of [
      ['register', '/flota'],
      ['shifts', '/flota?part=shifts'],
      ['hand-over', '/relleu?from=12:00'],
    ] as const) {
      for (const width of theme === 'dark' ? [1440, 390] : [390, 1920]) {
        const page = await open(path, { theme, width })
        await page
          .locator(name === 'hand-over' ? 'li[data-change]' : 'tbody tr')
          .first()
          .waitFor(WAIT)
        expect(await violations(page), `${name} ${theme} ${width}`).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name} ${width}`).toBe(true)
        await keep(page, `${name}-${theme}-${width}`)
        await page.context().close()
      }
    }
  })
})
