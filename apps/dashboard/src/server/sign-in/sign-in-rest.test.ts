import type { SessionView, UserView } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MaskingState } from '../masking/masking-state.ts'
import { StillSource } from '../panel-fuzz.testbench.ts'
import { type PanelServer, startPanelServer } from '../panel-server.ts'
import { sessionFor, type TestSignIn, testSignIn } from './sessions.testbench.ts'
import { type SignInRestOptions, signInRoutes } from './sign-in-rest.ts'

const MARTA = { id: 'u1', name: 'Marta', email: 'marta@example.test', role: 'dispatcher', scope: { kind: 'all' } } as UserView
const PASSWORD = 'vint furgonetes a Salt'

/** Links and passwords in a table. */
class Table {
  readonly links = new Set(['link-1'])
  password = PASSWORD
  async enterByLink(token: string) {
    return this.links.delete(token) ? { user: MARTA, via: 'link' as const, cookies: ['who=Marta; HttpOnly; SameSite=Strict'] } : null
  }
  async enterByPassword(email: string, password: string) {
    const fits = email === MARTA.email && password === this.password
    return fits ? { user: MARTA, via: 'password' as const, cookies: ['who=Marta; HttpOnly'] } : null
  }
  async find(cookie: string) {
    return cookie.includes('who=Marta') ? { id: 's1', user: MARTA, expiresAtMs: 9, via: 'password' as const } : null
  }
  async findKey(text: string) {
    return text === 'km0w_good' ? { id: 3, kind: 'wall' as const, name: 'Sala' } : null
  }
  async renew() {
    return { cookies: ['who=Marta; renewed'], expiresAtMs: 99 }
  }
  async leave() {
    return ['who=; Max-Age=0']
  }
  async choosePassword(_session: unknown, current: string | null, password: string) {
    if (current !== this.password) return false
    this.password = password
    return true
  }
}

let table: Table
let nowMs: number
let changes: number
let signIn: TestSignIn
let panel: PanelServer
let url: string
beforeEach(async () => {
  table = new Table()
  nowMs = 1_789_380_000_000
  changes = 0
  signIn = testSignIn([sessionFor('Marta', 'dispatcher')], null)
  const routes = signInRoutes({
    signIn: table as unknown as SignInRestOptions['signIn'],
    secureCookies: true,
    addressOf: (request) => String(request.headers['x-test-address'] ?? '192.0.2.1'),
    changed: () => {
      changes += 1
    },
    audit: signIn.audit,
    attempts: { perAddress: 4, perAccount: 2, windowMs: 900_000 },
    nowMs: () => nowMs,
  })
  panel = await startPanelServer({
    ...{ host: '127.0.0.1', port: 0, allowedNames: [], source: new StillSource(), mapStyleUrl: null, signIn, machineNowMs: () => nowMs },
    state: new MaskingState({ clock: 'machine', placeOf: () => null }),
    extensions: [{ routes }],
    metrics: new Registry(),
    pages: async () => async (_request, response) => void response.end('page'),
    onError: () => undefined,
  })
  url = `http://127.0.0.1:${panel.port}`
})
afterEach(() => panel.close())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, ...headers },
    body: JSON.stringify(body),
  })
const enter = (body: unknown, headers: Record<string, string> = {}) => post('/api/session', body, headers)
const told = () => signIn.audited.map(({ action, actorName, detail }) => [action, actorName, detail])

test('a link lets in once; the answer tells who came, the audit that they did', async () => {
  const first = await enter({ link: 'link-1' })
  expect(first.headers.getSetCookie()).toEqual(['who=Marta; HttpOnly; SameSite=Strict'])
  expect(((await first.json()) as SessionView).session).toMatchObject({
    actor: { name: 'Marta', roles: ['dispatcher'] },
    mayChoosePassword: true,
  })
  const again = await enter({ link: 'link-1' })
  expect([again.status, again.headers.getSetCookie()]).toEqual([401, []])
  expect(await again.json()).toMatchObject({ hint: expect.stringContaining('pnpm km0 user link') })
  expect(told()).toEqual([
    ['sign-in', 'Marta', 'by link'],
    ['sign-in-failed', null, 'a link that was used, has expired or never was'],
  ])
  expect(changes).toBe(1)
})

test('a link in a request of another page lets nobody in', async () => {
  expect((await enter({ link: 'link-1' }, { origin: 'http://evil.example' })).status).toBe(403)
  expect(table.links.size).toBe(1)
})

test('too many wrong passwords of an account, or of anything from an address, are told when to try again', async () => {
  const wrong = { email: 'MARTA@example.test', password: 'x' }
  expect([(await enter(wrong)).status, (await enter(wrong)).status]).toEqual([401, 401])
  const refused = await enter({ email: MARTA.email, password: PASSWORD })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900'])
  expect(await refused.json()).toEqual({ error: 'too many attempts', hint: 'Try again in 900 s.' })
  // From elsewhere the account is as shut.
  expect((await enter({ email: MARTA.email, password: PASSWORD }, { 'x-test-address': '192.0.2.9' })).status).toBe(429)
  // Another account, and links, until the address has used up its own.
  expect((await enter({ email: 'pau@example.test', password: 'x' })).status).toBe(401)
  expect((await enter({ link: 'nothing' })).status).toBe(401)
  expect((await enter({ link: 'link-1' })).status).toBe(429)
  nowMs += 900_000
  expect((await enter({ email: MARTA.email, password: PASSWORD })).status).toBe(200)
})

test('many attempts at once are as many', async () => {
  const wrong = { email: MARTA.email, password: 'x' }
  const all = await Promise.all(Array.from({ length: 10 }, () => enter(wrong)))
  expect(all.map(({ status }) => status).filter((status) => status === 401)).toHaveLength(2)
})

test('who may is told, kept and let go', async () => {
  expect(((await (await fetch(`${url}/api/session`)).json()) as SessionView).session).toBeNull()
  const cookie = 'who=Marta'
  const session = ((await (await fetch(`${url}/api/session`, { headers: { cookie } })).json()) as SessionView).session
  expect(session).toMatchObject({ kind: 'person', actor: { name: 'Marta' }, scope: { kind: 'all' } })
  expect(session).not.toHaveProperty('id')
  const renewed = await post('/api/session/renew', {}, { cookie })
  expect([await renewed.json(), renewed.headers.getSetCookie()]).toEqual([{ nowMs, expiresAtMs: 99 }, ['who=Marta; renewed']])
  expect((await post('/api/session/renew', {})).status).toBe(401)
  expect((await post('/api/session/leave', {}, { cookie })).headers.getSetCookie()).toEqual(['who=; Max-Age=0'])
  expect(told()).toEqual([['sign-out', 'Marta', '']])
})

test('a password is changed by whoever knows it, and is in no audit', async () => {
  const cookie = 'who=Marta'
  const next = 'una de nova, ben llarga'
  expect((await post('/api/session/password', { current: 'x', password: next }, { cookie })).status).toBe(403)
  expect((await post('/api/session/password', { current: PASSWORD, password: 'short' }, { cookie })).status).toBe(400)
  expect((await post('/api/session/password', { current: PASSWORD, password: next }, { cookie })).status).toBe(200)
  expect(table.password).toBe(next)
  expect(told()).toEqual([['password-set', 'Marta', '']])
  expect(JSON.stringify(signIn.audited)).not.toContain('llarga')
})

test('a wall screen’s link becomes a cookie that scripts cannot read; a revoked one leads to where that is said', async () => {
  const good = await fetch(`${url}/paret?clau=km0w_good`, { redirect: 'manual' })
  expect(good.headers.get('set-cookie')).toBe('km0_wall=km0w_good; Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict; Secure')
  expect([good.status, good.headers.get('refresh')]).toEqual([200, '0; url=/'])
  for (const wrong of ['?clau=nothing', '', '?clau=%00']) {
    const refused = await fetch(`${url}/paret${wrong}`, { redirect: 'manual' })
    expect([refused.status, refused.headers.get('location'), refused.headers.get('set-cookie')]).toEqual([303, '/entrada?paret=no', null])
  }
  expect(told().map(([action]) => action)).toEqual(['sign-in', 'sign-in-failed', 'sign-in-failed', 'sign-in-failed'])
})

test('a page without a session leads to the one of signing in, and back; what is no page is not led', async () => {
  const page = await fetch(`${url}/estoc?mercat=Olot`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  expect([page.status, page.headers.get('location')]).toEqual([302, '/entrada?torna=%2Festoc%3Fmercat%3DOlot'])
  for (const [path, headers] of [
    ['/entrada', { accept: 'text/html' }],
    ['/_next/x.js', { accept: '*/*' }],
    ['/estoc', { accept: 'text/html', cookie: 'who=Marta' }],
  ] as const)
    expect(await (await fetch(`${url}${path}`, { headers, redirect: 'manual' })).text()).toBe('page')
})
