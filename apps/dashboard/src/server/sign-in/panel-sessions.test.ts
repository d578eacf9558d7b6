import type { IncomingMessage } from 'node:http'
import type { AccessKeyView, UserView } from '@km0/contracts'
import type { FoundSession } from '@km0/signin'
import { beforeEach, describe, expect, test } from 'vitest'
import { addressOf } from './address.ts'
import { Allowance } from './attempts.ts'
import { PanelSessions } from './panel-sessions.ts'

const USER = { id: 'u1', name: 'Marta', email: 'marta@example.test', role: 'dispatcher', scope: { kind: 'all' } } as UserView
const key = (kind: AccessKeyView['kind']) => ({ id: 7, kind, name: 'Sala', scope: { kind: 'all' } }) as AccessKeyView

let nowMs: number
let away: boolean
let reads: number
let inForce: Map<string, FoundSession | AccessKeyView>
let sessions: PanelSessions
beforeEach(() => {
  nowMs = 1_000_000
  away = false
  reads = 0
  inForce = new Map<string, FoundSession | AccessKeyView>([
    ['km0.session_token=abc', { id: 's1', user: USER, expiresAtMs: nowMs + 60_000, via: 'link' }],
    ['wall', key('wall')],
    ['token', key('token')],
  ])
  const read = async (shown: string) => {
    reads += 1
    if (away) throw new Error('away')
    return inForce.get(shown) ?? null
  }
  sessions = new PanelSessions({ signIn: { find: read, findKey: read } as never, nowMs: () => nowMs })
})
const idOf = async (headers: Record<string, string>) => (await sessions.find(headers))?.id ?? null

describe('whose a request is', () => {
  test('a person’s by cookie, a screen’s by its cookie, a program’s by its token alone', async () => {
    expect(await idOf({ cookie: 'km0_theme=dark; km0.session_token=abc' })).toBe('person:s1')
    expect(await idOf({ cookie: 'km0_wall=wall' })).toBe('wall:7')
    expect(await idOf({ authorization: 'Bearer token' })).toBe('token:7')
    expect(await idOf({ authorization: 'Bearer wrong', cookie: 'km0.session_token=abc' })).toBeNull()
    expect(await idOf({ authorization: 'Bearer wall' })).toBeNull()
    expect(await idOf({ cookie: 'km0_wall=token' })).toBeNull()
    expect(await idOf({})).toBeNull()
  })

  test('a person who is signed in on a wall screen is that person', async () => {
    expect(await idOf({ cookie: 'km0_wall=wall; km0.session_token=abc' })).toBe('person:s1')
    expect(await idOf({ cookie: 'km0_wall=wall; km0.session_token=old' })).toBe('wall:7')
  })

  test('sees pseudonyms where the rules or the key say so', async () => {
    inForce.set('token', { ...key('token'), masked: true })
    const find = async () => null
    const findKey = async (shown: string) => inForce.get(shown) ?? null
    const masking = { masked: ['wall'], gridM: 1_000, offShiftGridM: 0 } as const
    const ruled = new PanelSessions({ signIn: { find, findKey } as never, nowMs: () => nowMs, masking })
    expect((await ruled.find({ cookie: 'km0_wall=wall' }))?.scope).toEqual({ kind: 'all', masked: true })
    expect((await ruled.find({ authorization: 'Bearer token' }))?.scope).toEqual({ kind: 'all', masked: true })
    expect((await sessions.find({ cookie: 'km0_wall=wall' }))?.scope).toEqual({ kind: 'all' })
  })

  test('nobody’s costs the store nothing', async () => {
    await idOf({})
    await idOf({ cookie: 'km0_theme=dark' })
    expect(reads).toBe(0)
  })
})

describe('what is remembered', () => {
  const cookie = { cookie: 'km0.session_token=abc' }

  test('holds for seconds; what is changed here, or asked for afresh, holds at once', async () => {
    await idOf(cookie)
    await idOf(cookie)
    expect(reads).toBe(1)
    inForce.clear()
    expect(await idOf(cookie)).toBe('person:s1')
    expect(await sessions.find(cookie, { fresh: true })).toBeNull()
    inForce.set('km0.session_token=abc', { id: 's2', user: USER, expiresAtMs: nowMs + 60_000, via: 'password' })
    let told = 0
    sessions.onChange(() => {
      told += 1
    })
    sessions.changed()
    expect([await idOf(cookie), told]).toEqual(['person:s2', 1])
    nowMs += 3_000
    inForce.clear()
    expect(await idOf(cookie)).toBeNull()
  })

  test('holds while the store is away, to its end and not beyond', async () => {
    await expect(
      (async () => {
        away = true
        await idOf(cookie)
      })(),
    ).rejects.toThrow('away')
    away = false
    await idOf(cookie)
    away = true
    nowMs += 59_000
    expect(await idOf(cookie)).toBe('person:s1')
    nowMs += 1_000
    expect(await idOf(cookie)).toBeNull()
  })
})

describe('an allowance', () => {
  test('is spent, given back, forgiven, and whole again after its window', () => {
    const allowance = new Allowance({ most: 2, windowMs: 1_000, nowMs: () => nowMs })
    expect([allowance.spend('a'), allowance.spend('a'), allowance.spend('a'), allowance.spend('b')]).toEqual([0, 0, 1_000, 0])
    nowMs += 400
    expect(allowance.waitMs('a')).toBe(600)
    allowance.giveBack('a')
    expect([allowance.spend('a'), allowance.spend('a')]).toEqual([0, 600])
    allowance.forgive('a')
    expect(allowance.waitMs('a')).toBe(0)
    allowance.spend('b')
    nowMs += 600
    expect(allowance.waitMs('b')).toBe(0)
  })
})

test('the address is the socket’s, or behind our proxy the one that the proxy saw', () => {
  const request = (forwarded?: string) =>
    ({
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: '::ffff:127.0.0.1' },
    }) as unknown as IncomingMessage
  expect(addressOf(request('192.0.2.1'), false)).toBe('127.0.0.1')
  expect(addressOf(request('6.6.6.6, 192.0.2.1'), true)).toBe('192.0.2.1')
  expect(addressOf(request(), true)).toBe('127.0.0.1')
})
