import type { SessionView } from '@km0/contracts/sign-in'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

class Line {
  readonly calls: string[] = []
  readonly #listeners = new Map<string, (given?: unknown) => void>()
  on(event: string, listener: (given?: unknown) => void) {
    this.#listeners.set(event, listener)
    return this
  }
  connect() {
    this.calls.push('connect')
    return this
  }
  disconnect() {
    this.calls.push('disconnect')
    return this
  }
  tell(event: string, given?: unknown) {
    this.#listeners.get(event)?.(given)
  }
}

const SESSION = { kind: 'person', actor: { id: '1', name: 'Marta', roles: [] } } as unknown as NonNullable<SessionView['session']>

beforeEach(() => {
  vi.resetModules()
  vi.stubGlobal('fetch', async () => Response.json({ nowMs: 0, session: null }))
})
afterEach(() => vi.unstubAllGlobals())

/** A line of a page, and what the page knows of its session. */
async function page() {
  const { sessionLine } = await import('./session-line.ts')
  const { keepSignedIn } = await import('./keep-signed-in.ts')
  const line = new Line()
  keepSignedIn(line as never)
  return { line, sessionLine }
}

test('a line that is refused asks to sign in, and comes anew when somebody has', async () => {
  const { line, sessionLine } = await page()
  line.tell('connect_error', new Error('sign-in'))
  await vi.waitFor(() => expect(sessionLine.isLost).toBe(true))
  expect(line.calls).toEqual(['disconnect'])
  sessionLine.take(SESSION)
  expect(line.calls).toEqual(['disconnect', 'connect'])
})

test('a line that the page has closed does not come again', async () => {
  const { line, sessionLine } = await page()
  line.tell('connect_error', new Error('sign-in'))
  await vi.waitFor(() => expect(sessionLine.isLost).toBe(true))
  line.disconnect()
  sessionLine.take(SESSION)
  expect(line.calls).not.toContain('connect')
})

test('a server that is away is none of its business', async () => {
  const { line, sessionLine } = await page()
  line.tell('connect_error', new Error('websocket error'))
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect([line.calls, sessionLine.isLost]).toEqual([[], false])
})

test('a line that is put out says so at once', async () => {
  const { line, sessionLine } = await page()
  line.tell('signed-out')
  await vi.waitFor(() => expect(sessionLine.isLost).toBe(true))
})
