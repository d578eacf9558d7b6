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
})
