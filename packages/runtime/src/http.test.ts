import { connect } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Health, type PartHealth } from './health.ts'
import { type OperationsServer, serveOperations } from './http.ts'
import { Counter, Registry } from './metrics.ts'

describe('health and metrics over HTTP', () => {
  let server: OperationsServer | undefined
  afterEach(() => server?.close())

  it('answers 200 while it works and 503 when it is down', async () => {
    let part: PartHealth = { status: 'degraded' }
    const health = new Health()
    health.register('kafka', () => part)
    const metrics = new Registry()
    new Counter({ name: 'km0_example_total', help: 'example', registers: [metrics] }).inc(3)
    server = await serveOperations({ host: '127.0.0.1', port: 0, health, metrics })
    const at = (path: string) => fetch(`http://127.0.0.1:${server?.port}${path}`)
    expect((await at('/health')).status).toBe(200)
    part = { status: 'down' }
    const down = await at('/health')
    expect(down.status).toBe(503)
    expect(await down.json()).toEqual({ status: 'down', parts: { kafka: { status: 'down' } } })
    expect(await (await at('/metrics')).text()).toContain('km0_example_total 3')
    expect((await at('/elsewhere')).status).toBe(404)
  })

  it('answers any request below 500 or ends its connection, and works afterwards', async () => {
    server = await serveOperations({ host: '127.0.0.1', port: 0, health: new Health(), metrics: new Registry() })
    const { port } = server
    const raw = (bytes: Buffer) =>
      new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
        let text = ''
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1')
        })
        socket.on('error', () => resolve(text))
        socket.on('close', () => resolve(text))
      })
    const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
    const line = fc
      .tuple(
        fc.constantFrom('GET', 'POST', 'HEAD', 'TRACE', 'BREW', ''),
        fc.constantFrom('/health', '/metrics', '/', '//', '*', '/%ff', '/metrics?x=1'),
      )
      .map(([method, path]) => Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`))
    await fc.assert(
      fc.asyncProperty(fc.oneof(line, noise), noise, fc.boolean(), async (head, body, ended) => {
        const answer = await raw(Buffer.concat([head, Buffer.from(ended ? '\r\n' : ''), body]))
        for (const [, status] of answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) expect(Number(status)).toBeLessThan(500)
      }),
      { numRuns: 80, seed: 20260914 },
    )
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })
})
