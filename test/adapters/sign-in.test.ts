// The library, our tables and PostgreSQL together: who comes in, how long, and how they are put out.
import { EVERYTHING, type Scope } from '@km0/contracts'
import { openServing } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { SignIn, type SignInSettings } from '@km0/signin'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const SALT: Scope = { kind: 'limited', depots: ['salt'], markets: [] }
const FROM = { address: '192.0.2.7', userAgent: 'test' }
const PASSWORD = 'una contrasenya ben llarga'
const SETTINGS: SignInSettings = {
  secret: null,
  sessionMs: 36_000_000,
  renewEveryMs: 300_000,
  linkMs: 60_000,
  secureCookies: false,
  firstAdministrator: { email: 'admin@km0.local', name: 'Administració' },
}

let services: TestServices<{ postgres: true }>
let signIn: SignIn
let pool: Pool
const open = (settings: Partial<SignInSettings> = {}) =>
  new SignIn({ databaseUrl: services.postgres.url, applicationName: 'test', settings: { ...SETTINGS, ...settings } })
/** As a browser sends them back. */
const cookieOf = (cookies: readonly string[]) => cookies.map((cookie) => cookie.split(';')[0]).join('; ')
const tokenOf = async (email: string) => (await signIn.makeLink(email)).path.split('#')[1] ?? ''
const enter = async (email: string) => {
  const entered = await signIn.enterByLink(await tokenOf(email), FROM)
  if (entered === null) throw new Error('not let in')
  return cookieOf(entered.cookies)
}

beforeAll(async () => {
  services = await startServices({ postgres: true })
  const serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  await serving.close()
  pool = new Pool({ databaseUrl: services.postgres.url, applicationName: 'test-raw' })
  signIn = open()
})
afterAll(async () => {
  await signIn?.close()
  await pool?.close()
  await services?.stop()
})

describe('links', () => {
  it('the first start makes an administrator; each start gives a link until they have come in', async () => {
    expect((await signIn.firstLink())?.path).toMatch(/^\/entrada#[A-Za-z]{32}$/)
    const link = await signIn.firstLink()
    const entered = await signIn.enterByLink(link?.path.split('#')[1] ?? '', FROM)
    expect(entered).toMatchObject({ via: 'link', user: { email: 'admin@km0.local', role: 'administrator', scope: EVERYTHING } })
    expect(entered?.cookies[0]).toMatch(/^km0\.session_token=.*Max-Age=36000.*HttpOnly.*SameSite=Strict/)
    expect(await signIn.firstLink()).toBeNull()
  })

  it('are used once, expire, and are kept as a digest', async () => {
    const token = await tokenOf('admin@km0.local')
    expect(JSON.stringify(await pool.query('select * from km0.sign_in_verification'))).not.toContain(token)
    expect(await signIn.enterByLink(token, FROM)).not.toBeNull()
    expect(await signIn.enterByLink(token, FROM)).toBeNull()
    expect(await signIn.enterByLink('x'.repeat(32), FROM)).toBeNull()
    const late = await tokenOf('admin@km0.local')
    await pool.query(`update km0.sign_in_verification set expires_at = now() - interval '1 second'`)
    expect(await signIn.enterByLink(late, FROM)).toBeNull()
  })

  it('of nobody let nobody in', async () => {
    expect(await signIn.enterByLink(await tokenOf('ningu@km0.local'), FROM)).toBeNull()
  })
})

describe('sessions', () => {
  it('are found by their cookie alone, with what the user may see', async () => {
    await signIn.addUser({ email: 'Marta@km0.local', name: 'Marta', role: 'dispatcher', scope: SALT })
    const cookie = await enter('marta@km0.local')
    expect(await signIn.find(cookie)).toMatchObject({ user: { name: 'Marta', role: 'dispatcher', scope: SALT } })
    expect(await signIn.find('')).toBeNull()
    expect(await signIn.find(cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).toBeNull()
    expect(await pool.query('select ip_address, via from km0.sign_in_session order by created_at desc limit 1')).toEqual([
      { ip_address: FROM.address, via: 'link' },
    ])
  })

  it('are made longer by use, not by being looked at, and end', async () => {
    const cookie = await enter('marta@km0.local')
    await pool.query(`update km0.sign_in_session set expires_at = now() + interval '1 hour'`)
    const before = await signIn.find(cookie)
    expect((await signIn.find(cookie))?.expiresAtMs).toBe(before?.expiresAtMs)
    const renewed = await signIn.renew(cookie)
    expect(renewed?.expiresAtMs).toBeGreaterThan((before?.expiresAtMs ?? 0) + 8 * 3_600_000)
    expect(renewed?.cookies[0]).toMatch(/km0\.session_token=.*Max-Age=36000/)
    await pool.query(`update km0.sign_in_session set expires_at = now() - interval '1 second'`)
    expect(await signIn.find(cookie)).toBeNull()
    expect(await signIn.renew(cookie)).toBeNull()
  })

  it('end when their user leaves', async () => {
    const cookie = await enter('marta@km0.local')
    expect((await signIn.leave(cookie)).some((text) => text.startsWith('km0.session_token=;'))).toBe(true)
    expect(await signIn.find(cookie)).toBeNull()
  })

  it('end when their user is revoked, who then comes in by no link that was made before', async () => {
    const cookie = await enter('marta@km0.local')
    const token = await tokenOf('marta@km0.local')
    const marta = await signIn.store.findUser({ email: 'marta@km0.local' })
    await signIn.store.changeUser(marta?.id ?? '', { revokedAtMs: Date.now() })
    expect(await signIn.find(cookie)).toBeNull()
    expect(await signIn.enterByLink(token, FROM)).toBeNull()
    await signIn.store.changeUser(marta?.id ?? '', { revokedAtMs: null })
    expect(await enter('marta@km0.local')).toContain('km0.session_token=')
  })

  it('that ended are forgotten, and nobody else', async () => {
    const cookie = await enter('marta@km0.local')
    await pool.query(
      `update km0.sign_in_session set expires_at = now() - interval '1 day' where user_id in (select id from km0.sign_in_user where role = 'administrator')`,
    )
    expect(await signIn.store.dropEnded(Date.now() - 3_600_000)).toBeGreaterThan(0)
    expect(await signIn.find(cookie)).not.toBeNull()
  })

  it('hold through a restart, and are worth nothing under another secret', async () => {
    const cookie = await enter('marta@km0.local')
    const [again, other] = [open(), open({ secret: 'another secret of more than 32 characters' })]
    expect(await again.find(cookie)).not.toBeNull()
    expect(await other.find(cookie)).toBeNull()
    await Promise.all([again.close(), other.close()])
  })
})

describe('passwords', () => {
  it('are chosen after a link, used from then on, and changed by whoever knows them', async () => {
    const byLink = await signIn.find(await enter('marta@km0.local'))
    expect(await signIn.enterByPassword('marta@km0.local', PASSWORD, FROM)).toBeNull()
    expect(byLink && (await signIn.choosePassword(byLink, null, PASSWORD))).toBe(true)
    const entered = await signIn.enterByPassword('MARTA@km0.local', PASSWORD, FROM)
    expect(entered).toMatchObject({ via: 'password', user: { hasPassword: true } })
    expect(await signIn.enterByPassword('marta@km0.local', `${PASSWORD}!`, FROM)).toBeNull()
    const byPassword = await signIn.find(cookieOf(entered?.cookies ?? []))
    expect(byPassword && (await signIn.choosePassword(byPassword, null, 'una altra de ben llarga'))).toBe(false)
    expect(byPassword && (await signIn.choosePassword(byPassword, PASSWORD, 'una altra de ben llarga'))).toBe(true)
    expect(await signIn.enterByPassword('marta@km0.local', PASSWORD, FROM)).toBeNull()
    expect(JSON.stringify(await pool.query('select password from km0.sign_in_account'))).not.toContain('llarga')
  })

  it('a new one ends the other sessions', async () => {
    const other = await enter('marta@km0.local')
    const mine = await enter('marta@km0.local')
    const session = await signIn.find(mine)
    expect(session && (await signIn.choosePassword(session, null, PASSWORD))).toBe(true)
    expect(await signIn.find(other)).toBeNull()
    expect(await signIn.find(mine)).not.toBeNull()
  })
})

describe('users and keys', () => {
  it('an address is taken once, and the last administrator stays one', async () => {
    expect(await signIn.addUser({ email: 'marta@km0.local', name: 'x', role: 'analyst', scope: EVERYTHING })).toBeNull()
    const admin = await signIn.store.findUser({ email: 'admin@km0.local' })
    expect(await signIn.store.changeUser(admin?.id ?? '', { revokedAtMs: 1 })).toBe('last administrator')
    expect(await signIn.store.changeUser(admin?.id ?? '', { role: 'analyst' })).toBe('last administrator')
    expect(await signIn.store.changeUser('nobody', { name: 'x' })).toBe('unknown')
  })

  it('a key comes in until it is revoked, and is nowhere in clear', async () => {
    const { key, secret } = await signIn.makeKey({ kind: 'wall', name: 'Sala', scope: SALT, createdBy: 'Marta' })
    expect(await signIn.findKey(secret)).toMatchObject({ id: key.id, kind: 'wall', scope: SALT })
    expect((await signIn.findKey(secret))?.masked).toBe(false)
    const other = await signIn.makeKey({ kind: 'token', name: 'Fulls', scope: SALT, masked: true, createdBy: 'Marta' })
    expect((await signIn.findKey(other.secret))?.masked).toBe(true)
    expect(await signIn.findKey(`${secret}x`)).toBeNull()
    expect(JSON.stringify(await pool.query('select * from km0.access_key'))).not.toContain(secret)
    expect(await signIn.store.revokeKey(key.id, Date.now())).toBe(true)
    expect(await signIn.findKey(secret)).toBeNull()
    expect(await signIn.store.revokeKey(key.id, Date.now())).toBe(false)
  })

  it('the audit is read page by page, by name and by action', async () => {
    for (const [actorName, action] of [
      ['Marta', 'sign-in'],
      ['Núria', 'sign-in'],
      ['Marta', 'acknowledgements'],
    ] as const)
      await signIn.store.writeAudit({ atMs: 5, actorId: 'x', actorName, action, detail: '', address: '::1' })
    const all = { before: null, actor: null, action: null, limit: 2 }
    const page = await signIn.store.readAudit(all)
    expect(page.map(({ action }) => action)).toEqual(['acknowledgements', 'sign-in'])
    expect((await signIn.store.readAudit({ ...all, before: page[1]?.id ?? 0 })).map(({ actorName }) => actorName)).toEqual(['Marta'])
    expect(await signIn.store.readAudit({ ...all, actor: 'MART', action: 'sign-in' })).toHaveLength(1)
    expect(await signIn.store.auditActions()).toEqual(['acknowledgements', 'sign-in'])
    expect(await signIn.store.dropAuditBefore(6)).toBe(3)
  })
})
