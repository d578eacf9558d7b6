import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PanelSnapshot } from '@km0/contracts'
import { openServing, type Serving } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { SignIn } from '@km0/signin'
import { launchBrowser } from '@km0/testkit/browser'
import { startServices, type TestServices } from '@km0/testkit/services'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { NO_MASKING } from '../../apps/dashboard/src/server/masking/settings.ts'
import { signInExtension } from '../../apps/dashboard/src/server/sign-in/sign-in-extension.ts'
import { violations } from './accessibility.ts'
import { LABELS, startPanelUnderTest } from './panel-under-test.ts'
import { SimulatedSource } from './simulated-source.ts'

/** Coming in and being put out, in a real browser over real sessions in a real store. */

const ARTEFACTS = join(import.meta.dirname, '../artefacts/sign-in')
const PASSWORD = 'vint furgonetes a Salt'

let browser: Browser | null = null
try {
  browser = await launchBrowser({ maps: false })
} catch (error) {
  console.warn(`no browser can be started, so sign-in is not tested in one: ${String(error)}`)
}
mkdirSync(ARTEFACTS, { recursive: true })

let services: TestServices<{ postgres: true }>
let serving: Serving
let pool: Pool
let signIn: SignIn
let source: SimulatedSource
let panel: Awaited<ReturnType<typeof startPanelUnderTest>>
let url: string
const contexts: BrowserContext[] = []

/** A browser of its own: cookies are not shared. */
async function newPage(look: { readonly theme?: 'dark' | 'light'; readonly width?: number } = {}): Promise<Page> {
  const context = await (browser as Browser).newContext({ viewport: { width: look.width ?? 1440, height: 900 }, reducedMotion: 'reduce' })
  context.setDefaultTimeout(60_000)
  contexts.push(context)
  await context.addCookies([
    { name: 'km0_theme', value: look.theme ?? 'dark', url },
    { name: 'km0_locale', value: 'en', url },
  ])
  return context.newPage()
}
const linkFor = async (email: string) => `${url}${(await signIn.makeLink(email)).path}`
/** A page of somebody who has come in by a link, without the clicks. */
async function pageOf(email: string, path: string, look: Parameters<typeof newPage>[0] = {}): Promise<Page> {
  const page = await newPage(look)
  const link = (await signIn.makeLink(email)).path.split('#')[1]
  expect((await page.request.post(`${url}/api/session`, withOrigin({ link }))).status()).toBe(200)
  await page.goto(`${url}${path}`)
  return page
}
const keep = (page: Page, name: string) => page.screenshot({ path: join(ARTEFACTS, `${name}.png`) })
const withOrigin = (data: unknown) => ({ data, headers: { origin: url } })

describe.skipIf(browser === null)('sign-in', () => {
  beforeAll(async () => {
    services = await startServices({ postgres: true })
    const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
    serving = openServing(options)
    await serving.migrate()
    pool = new Pool(options)
    const minutes = 60_000
    signIn = new SignIn({
      ...options,
      settings: {
        ...{ secret: null, sessionMs: 600 * minutes, renewEveryMs: 5 * minutes, linkMs: 60 * minutes, secureCookies: false },
        firstAdministrator: { email: 'admin@km0.local', name: 'Administració' },
      },
    })
    const door = signInExtension({
      signIn,
      attempts: { perAddress: 40, perAccount: 3, windowMs: 15 * minutes },
      ...{ tokenRequestsPerMinute: 600, behindProxy: false, auditDays: 400, masking: NO_MASKING },
      onTrouble: (error, what) => console.error(what, error),
    })
    source = new SimulatedSource({ labelsFile: LABELS, vans: 12, silent: { 3: 20, 4: 20 } })
    panel = await startPanelUnderTest(source, { extensions: [door], signIn: { ...door.panel, socketCheckMs: 300 } })
    url = `http://127.0.0.1:${panel.port}`
    // The users page offers the depots that the register has.
    const depot = { lat: 41.98, lon: 2.82, markets: ['Mercat del Lleó'], shiftStart: null, shiftEnd: null }
    await serving.importDepots([{ line: 2, row: { ...depot, id: 'girona-sud', name: 'Girona Sud' } }])
  }, 180_000)
  // Each page draws a map: those of the tests before would leave little of the machine.
  afterEach(async ({ task }) => {
    const pages = contexts.flatMap((context) => context.pages())
    if (task.result?.state === 'fail')
      for (const [index, page] of pages.entries()) await keep(page, `failed-${task.name.slice(0, 20)}-${index}`).catch(() => undefined)
    for (const context of contexts.splice(0)) await context.close()
  })
  afterAll(async () => {
    await panel?.close()
    await Promise.all([signIn?.close(), serving?.close(), pool?.close()])
    await services?.stop()
    await browser?.close()
  })

  test('without a session every page leads to the one of signing in, and nothing else answers', async () => {
    const page = await newPage({ width: 390 })
    await page.goto(`${url}/?van=furgoneta-7`)
    expect(new URL(page.url()).pathname).toBe('/entrada')
    await page.getByText('pnpm km0 user link').waitFor()
    expect((await page.request.get(`${url}/api/panel`)).status()).toBe(401)
    expect((await page.request.get(`${url}/health`)).status()).toBeLessThan(600)
    for (const theme of ['dark', 'light'] as const) {
      const looked = await newPage({ theme })
      await looked.goto(`${url}/entrada`)
      await looked.getByRole('heading', { name: 'Sign in' }).waitFor()
      expect(await violations(looked)).toEqual([])
      await keep(looked, `entrada-${theme}`)
    }
    await keep(page, 'entrada-phone')
  })

  test('the first link lets the administrator in, once, and a password is chosen', async () => {
    const first = await signIn.firstLink()
    const page = await newPage()
    await page.goto(`${url}${first?.path}`)
    await page.getByRole('button', { name: 'Sign in with the link' }).click()
    await page.getByLabel('New password').fill(PASSWORD)
    await keep(page, 'password')
    await page.getByRole('button', { name: 'Save the password' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByRole('button', { name: 'Quilòmetre Zero' }).click()
    await page.locator('[data-counter="moving"]').waitFor()
    await page.getByRole('button', { name: 'Administració: menu' }).click()
    await page.getByText('Administrator', { exact: true }).waitFor()
    await keep(page, 'menu')
    await page.close()

    const other = await newPage()
    await other.goto(`${url}${first?.path}`)
    await other.getByRole('button', { name: 'Sign in with the link' }).click()
    await other
      .getByRole('alert')
      .getByText(/used already/)
      .waitFor()
    await other.getByLabel('E-mail address').fill('admin@km0.local')
    await other.getByLabel('Password').fill(PASSWORD)
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    await other.waitForURL(`${url}/`)
  })

  test('a session that ends asks over the page: a note half written is still there, and is sent by who signed in', async () => {
    await signIn.addUser({ email: 'marta@km0.local', name: 'Marta Puig', role: 'dispatcher', scope: { kind: 'all' } })
    const page = await pageOf('marta@km0.local', '/')
    await page
      .locator('li[data-van="furgoneta-3"]')
      .getByRole('button', { name: /Acknowledge/ })
      .click()
    await page.getByLabel(/^Note/).fill('called, half wri')
    await pool.query(`update km0.sign_in_session set expires_at = now() - interval '1 second'`)
    const over = page.getByRole('dialog', { name: 'The session has ended' })
    await over.waitFor()
    expect(await page.getByLabel(/^Note/).inputValue()).toBe('called, half wri')
    expect(await violations(page)).toEqual([])
    await keep(page, 'expired')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await over.waitFor()
    await over.getByRole('button', { name: 'I have a one-time link' }).click()
    await over.getByLabel('One-time link').fill(await linkFor('marta@km0.local'))
    await over.getByRole('button', { name: 'Sign in', exact: true }).click()
    await over.waitFor({ state: 'hidden' })
    expect(await page.getByLabel(/^Note/).inputValue()).toBe('called, half wri')
    await page.getByLabel(/^Note/).fill('called, half written')
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).last().click()
    await expect
      .poll(() => source.stored.at(-1))
      .toMatchObject({ note: 'called, half written', actor: { name: 'Marta Puig', roles: ['dispatcher'] } })
    // The socket goes on too: what was stored comes back by it.
    await page.locator('li[data-van="furgoneta-3"]').getByText('called, half written').waitFor()
  })

  test('a dispatcher of one depot sees its vans alone: in lists, search and by every way in', async () => {
    const { secret } = await signIn.makeKey({ kind: 'token', name: 'test', scope: { kind: 'all' }, createdBy: 'test' })
    const answer = await fetch(`${url}/api/panel`, { headers: { authorization: `Bearer ${secret}` } })
    const all = (await answer.json()) as PanelSnapshot
    const depot = all.depots[0]!
    const mine = all.registered.filter(({ depotId }) => depotId === depot.id).map(({ van }) => van)
    const other = all.registered.find(({ depotId }) => depotId !== depot.id)!.van
    await signIn.addUser({
      email: 'pau@km0.local',
      name: 'Pau',
      role: 'dispatcher',
      scope: { kind: 'limited', depots: [depot.id], markets: [] },
    })
    const page = await pageOf('pau@km0.local', '/')
    const rows = () => page.locator('tbody tr[data-van]').evaluateAll((found) => found.map((row) => row.getAttribute('data-van')).sort())
    await expect.poll(rows).toEqual([...mine].sort())
    await page.keyboard.press('/')
    await page.keyboard.type('furgoneta')
    const found = page.getByRole('option', { name: /furgoneta/ })
    await expect.poll(() => found.count()).toBe(mine.length)
    expect((await page.request.get(`${url}/api/trail?van=${other}`)).status()).toBe(404)
    expect((await page.request.post(`${url}/api/acknowledgements`, withOrigin({ van: other, sinceMs: 1, note: '' }))).status()).toBe(404)
    expect((await page.request.get(`${url}/api/users`)).status()).toBe(403)
    await keep(page, 'limited')
  })

  test('a wall screen looks and nothing else, until its link is revoked', async () => {
    const admin = await pageOf('admin@km0.local', '/usuaris')
    await admin.getByRole('region', { name: 'Wall screens' }).getByRole('button', { name: 'New link' }).click()
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Sala')
    await dialog.getByRole('button', { name: 'New link' }).click()
    const link = await admin.locator('[data-secret]').textContent()
    const wall = await newPage({ width: 1920 })
    await wall.goto(link ?? '')
    await wall.waitForURL(`${url}/`)
    await wall.locator('[data-counter="moving"]').waitFor()
    expect(
      (await wall.request.post(`${url}/api/acknowledgements`, withOrigin({ van: 'furgoneta-3', sinceMs: 1, note: '' }))).status(),
    ).toBe(403)
    await admin.getByRole('button', { name: 'Done' }).click()
    await admin.getByRole('button', { name: 'Take access from Sala' }).click()
    await admin.getByRole('button', { name: 'Yes, take access' }).click()
    await wall.getByRole('dialog', { name: 'This screen has no access any more' }).waitFor()
    await keep(wall, 'wall-revoked')
    await wall.goto(link ?? '')
    await wall.getByText('was revoked').waitFor()
  })

  test('users are invited, limited and revoked on their page, which tells who did what', async () => {
    const admin = await pageOf('admin@km0.local', '/usuaris')
    await admin.getByRole('button', { name: 'Invite' }).click()
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Núria Güell')
    await dialog.getByLabel('E-mail address').fill('nuria@km0.local')
    await dialog.getByLabel('Only these depots and markets').check()
    await dialog.getByLabel('Girona Sud').check()
    await keep(admin, 'invite')
    await dialog.getByRole('button', { name: 'Invite' }).click()
    const link = await admin.locator('[data-secret]').textContent()
    await admin.getByRole('button', { name: 'Done' }).click()
    expect(await admin.locator('[data-user="nuria@km0.local"]').textContent()).toContain('Girona Sud')
    const nuria = await newPage()
    await nuria.goto(link ?? '')
    await nuria.getByRole('button', { name: 'Sign in with the link' }).click()
    await nuria.getByRole('button', { name: 'Not now' }).click()
    await nuria.waitForURL(`${url}/`)
    await nuria.getByRole('button', { name: 'Núria Güell: menu' }).waitFor()
    await admin.getByRole('button', { name: 'Take access from Núria Güell' }).click()
    await admin.getByRole('button', { name: 'Yes, take access' }).click()
    await nuria.getByRole('dialog', { name: 'The session has ended' }).waitFor()
    await admin.reload()
    await admin.locator('tr[data-action="users/change"]').first().waitFor()
    for (const action of ['sign-in', 'sign-in-failed', 'users', 'keys', 'keys/revoke', 'acknowledgements', 'password-set'])
      expect(await admin.locator(`tr[data-action="${action}"]`).count(), action).toBeGreaterThan(0)
    expect(await violations(admin)).toEqual([])
    await keep(admin, 'usuaris-dark')
    const light = await pageOf('admin@km0.local', '/usuaris', { theme: 'light', width: 390 })
    await light.locator('tr[data-action]').first().waitFor()
    expect(await violations(light)).toEqual([])
    await light.screenshot({ path: join(ARTEFACTS, 'usuaris-phone.png'), fullPage: true })
  })

  test('too many wrong passwords: told when to try again', async () => {
    const page = await newPage()
    await page.goto(`${url}/entrada`)
    await page.getByLabel('E-mail address').fill('admin@km0.local')
    await page.getByLabel('Password').fill('wrong')
    const send = page.getByRole('button', { name: 'Sign in', exact: true })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await send.click()
      await page.getByRole('alert').filter({ hasText: 'do not fit' }).waitFor()
      await expect.poll(() => send.isEnabled()).toBe(true)
    }
    await send.click()
    await page
      .getByRole('alert')
      .getByText(/too many attempts; try again in \d+ minutes/)
      .waitFor()
  })
})
