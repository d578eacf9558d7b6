import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Role, Scope } from '@km0/contracts'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../guard.ts'
import { ACCESS, type Needs, UNDECLARED } from './access.ts'
import { Door } from './door.ts'
import { sessionFor, testSignIn } from './sessions.testbench.ts'

const SALT: Scope = { kind: 'limited', depots: ['salt'], markets: [] }
const ROLES: readonly Role[] = ['wall', 'reader', 'dispatcher', 'analyst', 'administrator']
const NOW = 1_789_380_000_000

/** Who passes a door, as the issue has it. */
const MAY: Readonly<Record<Needs, readonly (Role | 'nobody')[]>> = {
  open: ['nobody', ...ROLES],
  any: ROLES,
  person: ['dispatcher', 'analyst', 'administrator'],
  dispatcher: ['dispatcher', 'administrator'],
  analyst: ['analyst', 'administrator'],
  administrator: ['administrator'],
}

const people = ROLES.flatMap((role) => [sessionFor(role, role), sessionFor(`limited ${role}`, role, SALT)])

/** What the door says: 0 for somebody who passes. */
async function knock(
  route: string,
  who: string,
  headers: Record<string, string> = { origin: 'http://panel', host: 'panel' },
): Promise<number> {
  const signIn = testSignIn(people, null)
  const door = new Door({
    ...{ sessions: signIn.sessions, audit: signIn.audit, watch: { add: () => () => undefined } },
    ...{
      nowMs: () => NOW,
      addressOf: () => '::1',
      tokenRequestsPerMinute: 1_000,
      sessionRequestsPerMinute: 1_000,
      onError: () => undefined,
    },
  })
  const [method = '', path = ''] = route.split(' ')
  const name = who.endsWith('reader') ? { authorization: `Bearer ${who}` } : { cookie: `who=${who}` }
  const request = { method, url: path, headers: { ...headers, ...name } } as unknown as IncomingMessage
  const response = { once: () => undefined, setHeader: () => undefined } as unknown as ServerResponse
  try {
    await door.enter(request, response, path)
    return 0
  } catch (error) {
    if (error instanceof Refusal) return error.status
    throw error
  }
}

/** Files of the server, without tests. */
function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/\.(test|testbench)\.ts$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
}

describe('every route', () => {
  test('has a role: a path that the server has is in the table', () => {
    const declared = new Set(Object.keys(ACCESS).map((route) => route.split(' ')[1]))
    const paths = sources(join(import.meta.dirname, '..')).flatMap((text) =>
      [...text.matchAll(/'(\/api\/[\w./-]+)'/g)].map(([, path]) => path),
    )
    expect(paths.length).toBeGreaterThan(30)
    expect([...new Set(paths)].filter((path) => !declared.has(path))).toEqual([])
  })

  test('that nobody declared is for administrators who see everything', () => {
    expect(UNDECLARED).toEqual({ needs: 'administrator', vans: 'all' })
  })

  test.each(Object.entries(ACCESS))('%s lets those in who may', async (route, access) => {
    const isCommand = !route.startsWith('GET ')
    for (const role of ['nobody', ...ROLES] as const) {
      const passes = MAY[access.needs].includes(role)
      // A key of a program is for reading; a command needs a person, whatever it is.
      expect([role, await knock(route, role)]).toEqual([role, passes ? 0 : role === 'nobody' ? 401 : 403])
      if (role === 'nobody' || !passes) continue
      expect([role, await knock(route, `limited ${role}`)]).toEqual([role, access.vans === 'all' ? 403 : 0])
    }
    if (isCommand) {
      expect(['dispatcher', 'analyst', 'administrator', 'person', 'open']).toContain(access.needs)
      expect(await knock(route, 'administrator', { origin: 'http://evil.example', host: 'panel' })).toBe(403)
      expect(await knock(route, 'administrator', { host: 'panel' })).toBe(403)
    }
  })
})

test('a token asks only so often, and so does a session', async () => {
  const signIn = testSignIn(people, null)
  const told: string[] = []
  let nowMs = NOW
  const door = new Door({
    ...{ sessions: signIn.sessions, audit: signIn.audit, watch: { add: () => () => undefined } },
    ...{ nowMs: () => nowMs, addressOf: () => '::1', tokenRequestsPerMinute: 3, sessionRequestsPerMinute: 2, onError: () => undefined },
  })
  const ask = async (headers: Record<string, string> = { authorization: 'Bearer reader' }) => {
    const request = { method: 'GET', headers } as unknown as IncomingMessage
    const response = {
      once: () => undefined,
      setHeader: (name: string, value: string) => told.push(`${name}: ${value}`),
    } as unknown as ServerResponse
    return door.enter(request, response, '/api/panel').then(
      () => 0,
      (error: Refusal) => error.status,
    )
  }
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([0, 0, 0, 429])
  expect(told).toEqual(['retry-after: 60'])
  // All that come with one cookie are one; another's is another's.
  const [marta, pere] = [{ cookie: 'who=dispatcher' }, { cookie: 'who=analyst' }]
  expect([await ask(marta), await ask(marta), await ask(marta), await ask(pere)]).toEqual([0, 0, 429, 0])
  nowMs += 60_000
  expect([await ask(), await ask(marta)]).toEqual([0, 0])
})
