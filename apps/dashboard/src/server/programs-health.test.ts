import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { ASK_EVERY_MS, ProgramsHealth, readPrograms } from './programs-health.ts'

const servers: Server[] = []
let asker: ProgramsHealth | undefined
afterEach(() => {
  asker?.stop()
  for (const server of servers.splice(0)) server.close()
})

async function answering(text: string): Promise<string> {
  const server = createServer((_request, response) => response.end(text))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`
}

test('addresses are read, or refused', () => {
  expect([...(readPrograms(' bridge=http://a:1/health, batch=http://b:2/health?x=1,') ?? [])]).toEqual([
    ['bridge', 'http://a:1/health'],
    ['batch', 'http://b:2/health?x=1'],
  ])
  expect(readPrograms('')).toEqual(new Map())
  for (const wrong of ['bridge', '=http://a', 'bridge=ftp://a', 'bridge=http://']) expect(readPrograms(wrong)).toBeNull()
})

test('each program is told as it says, without its words; one that is gone or talks nonsense is degraded', async () => {
  const programs = new Map([
    ['well', await answering('{"status":"ok","parts":{}}')],
    ['ill', await answering('{"status":"down","parts":{"x":{"status":"down","detail":"secret"}}}')],
    ['odd', await answering('hello')],
    ['gone', 'http://127.0.0.1:9/health'],
  ])
  asker = new ProgramsHealth(programs)
  expect(asker.parts()).toEqual({})
  asker.start()
  await expect.poll(() => Object.keys(asker?.parts() ?? {}).length).toBe(4)
  expect(asker.parts()).toMatchObject({
    well: { status: 'ok' },
    ill: { status: 'degraded', detail: 'says that it is down' },
    odd: { status: 'degraded', detail: 'does not answer' },
    gone: { status: 'degraded', detail: 'does not answer' },
  })
  expect(JSON.stringify(asker.parts())).not.toContain('secret')
})

test('one answer that does not come says nothing, two in a row do, and the next answer is believed at once', async () => {
  vi.useFakeTimers()
  let answers = true
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    if (!answers) throw new Error('too late')
    return new Response('{"status":"ok","parts":{}}')
  })
  asker = new ProgramsHealth(new Map([['bridge', 'http://127.0.0.1:9/health']]))
  const said = () => asker?.reports().get('bridge')?.status
  asker.start()
  await vi.advanceTimersByTimeAsync(0)
  const next = async (does: boolean) => {
    answers = does
    await vi.advanceTimersByTimeAsync(ASK_EVERY_MS)
    return said()
  }
  expect([said(), await next(false), await next(true), await next(false), await next(false), await next(true)]).toEqual([
    ...['ok', 'ok', 'ok', 'ok', 'silent', 'ok'],
  ])
  fetched.mockRestore()
  vi.useRealTimers()
})
