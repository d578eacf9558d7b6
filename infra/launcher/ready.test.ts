import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { untilUp, untilWell, whatIsMissing } from './ready.ts'

let server: Server | undefined
afterEach(() => server?.close())

async function answering(...reports: unknown[]): Promise<string> {
  let asked = 0
  server = createServer((_request, response) => {
    response.end(JSON.stringify(reports[Math.min(asked++, reports.length - 1)]))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/health`
}

describe('readiness', () => {
  it('says what is missing', () => {
    expect(whatIsMissing(null, false)).toMatch(/does not answer/)
    expect(whatIsMissing({ status: 'down', parts: { kafka: { status: 'down', detail: 'gone' }, http: { status: 'ok' } } }, false)).toBe(
      'kafka down (gone)',
    )
    expect(whatIsMissing({ status: 'ok', ready: false }, true)).toMatch(/first position/)
    expect(whatIsMissing({ status: 'ok', ready: false }, false)).toBeNull()
    expect(whatIsMissing({ status: 'ok', ready: true }, true)).toBeNull()
  })

  it('waits until all is well and work was done once', async () => {
    const url = await answering(
      { status: 'degraded', parts: { feed: { status: 'degraded' } } },
      { status: 'ok', ready: false },
      { status: 'ok', ready: true },
    )
    const heard: string[] = []
    const signal = AbortSignal.timeout(10_000)
    await untilWell(url, { needsWork: true, signal, sayEveryMs: 0, onWaiting: (what) => heard.push(what) })
    expect(heard).toEqual(['feed degraded', 'waits for the first position'])
  })

  it('counts degraded as up, down not', async () => {
    const url = await answering({ status: 'down' }, { status: 'degraded' })
    await untilUp(url, AbortSignal.timeout(10_000))
    await expect(untilUp('http://127.0.0.1:9/health', AbortSignal.timeout(300))).rejects.toThrow()
  })
})
