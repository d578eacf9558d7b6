import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Refusal } from './guard.ts'
import { Idempotency, REMEMBERED_MAX, REMEMBERED_MS } from './idempotency.ts'

let nowMs = 0
let idempotency: Idempotency
let server: Server
let done = 0
let work: () => Promise<{ status: number; body: unknown }>
let url: string

beforeEach(async () => {
  nowMs = 0
  done = 0
  idempotency = new Idempotency(() => nowMs)
  work = async () => {
    done += 1
    return { status: 201, body: { done } }
  }
  server = createServer((request, response) => {
    const who = String(request.headers.who ?? 'marta')
    idempotency
      .run(request, response, who, request.url ?? '', async () => {
        const { status, body } = await work()
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      })
      .catch((error: unknown) => {
        response.writeHead(error instanceof Refusal ? error.status : 503)
        response.end()
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const send = async (key: string | null, more: { readonly path?: string; readonly who?: string; readonly method?: string } = {}) => {
  const headers: Record<string, string> = { who: more.who ?? 'marta', connection: 'close' }
  if (key !== null) headers['idempotency-key'] = key
  const response = await fetch(`${url}${more.path ?? '/acknowledge'}`, { method: more.method ?? 'POST', headers })
  return { status: response.status, text: await response.text(), replayed: response.headers.get('idempotency-replayed') }
}

describe('a command with a key', () => {
  test('happens once, and its answer comes again', async () => {
    expect(await send('key-00000001')).toEqual({ status: 201, text: '{"done":1}', replayed: null })
    expect(await send('key-00000001')).toEqual({ status: 201, text: '{"done":1}', replayed: 'true' })
    expect(done).toBe(1)
  })

  test('that is sent again before it is done waits for the same answer', async () => {
    let finish: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (finish = resolve))
    work = async () => {
      done += 1
      await gate
      return { status: 201, body: { done } }
    }
    const both = [send('key-00000001'), send('key-00000001')]
    finish()
    expect((await Promise.all(both)).map(({ text }) => text)).toEqual(['{"done":1}', '{"done":1}'])
    expect(done).toBe(1)
  })

  test('that did not go well may be tried again', async () => {
    const well = work
    work = () => Promise.reject(new Error('the store is away'))
    expect(await send('key-00000001')).toMatchObject({ status: 503 })
    work = async () => ({ status: 409, body: {} })
    expect(await send('key-00000001')).toMatchObject({ status: 409, replayed: null })
    work = well
    expect(await send('key-00000001')).toMatchObject({ status: 201, replayed: null })
  })

  test('is of its sender, its path and its key alone; without one every command happens', async () => {
    await send('key-00000001')
    await send('key-00000002')
    await send('key-00000001', { who: 'joan' })
    await send('key-00000001', { path: '/mute' })
    await send(null)
    await send(null)
    await send('key-00000001', { method: 'GET' })
    expect(done).toBe(7)
  })

  test.each(['short', 'with a space in it', 'x'.repeat(65), 'key/0000001'])('is refused when the key is "%s"', async (key) => {
    expect(await send(key)).toMatchObject({ status: 400 })
    expect(done).toBe(0)
  })

  test('is remembered for an hour, and not without bounds', async () => {
    await send('key-00000001')
    nowMs = REMEMBERED_MS + 1
    await send('key-00000001')
    expect(done).toBe(2)
    expect(idempotency.size).toBe(1)
    expect(REMEMBERED_MAX).toBeLessThanOrEqual(10_000)
  })
})
