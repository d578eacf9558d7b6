import type { SessionView } from '@km0/contracts/sign-in'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const SESSION: NonNullable<SessionView['session']> = {
  kind: 'person',
  actor: { id: '1', name: 'Marta', roles: ['dispatcher'] },
  email: 'marta@example.test',
  scope: { kind: 'all' },
  expiresAtMs: 5,
  mayChoosePassword: false,
}
let answer: SessionView['session'] | 'away'
/** Each test is a page of its own. */
const page = async () => {
  vi.resetModules()
  return (await import('./session-line.ts')).sessionLine
}
beforeEach(() => {
  answer = null
  vi.stubGlobal('fetch', async () => {
    if (answer === 'away') throw new Error('no line')
    return Response.json({ nowMs: 0, session: answer })
  })
})
afterEach(() => vi.unstubAllGlobals())

test('a page that never had a session has lost none', async () => {
  const line = await page()
  await line.read()
  expect([line.session, line.isLost]).toEqual([null, false])
})

test('a session that has ended is lost, and who it was is still known', async () => {
  const line = await page()
  answer = SESSION
  await line.read()
  answer = null
  await line.read()
  expect([line.session, line.isLost]).toEqual([SESSION, true])
})

test('a server that does not answer ends no session', async () => {
  const line = await page()
  answer = SESSION
  await line.read()
  answer = 'away'
  await line.read()
  expect([line.session, line.isLost]).toEqual([SESSION, false])
})

test('who was refused goes on when somebody has signed in: once, or each time', async () => {
  const line = await page()
  const calls: string[] = []
  line.whenFound(() => calls.push('once'))
  const stopped = line.whenFound(() => calls.push('never'))
  line.onFound(() => calls.push('each'))
  stopped()
  line.refused()
  await vi.waitFor(() => expect(line.isLost).toBe(true))
  line.take(SESSION)
  expect([calls, line.isLost]).toEqual([['once', 'each'], false])
  line.take(null)
  line.take(SESSION)
  expect(calls).toEqual(['once', 'each', 'each'])
})
