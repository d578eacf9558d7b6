import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listen } from './http.ts'
import { newTraceparent, openTracer, parseTraceparent } from './tracing.ts'

let server: Server
const bodies: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      bodies.push(`${request.url} ${body}`)
      response.end('{}')
    })
  })
  await listen(server, '127.0.0.1', 0)
})
afterAll(() => closeServer(server))

describe('tracing', () => {
  it('is off unless a collector is named', () => {
    expect(openTracer('bridge', {})).toBeNull()
    expect(openTracer('bridge', { KM0_OTLP_URL: '' })).toBeNull()
  })

  it('sends spans as OTLP: a child in the trace of its parent, a batch in its own with links', async () => {
    const tracer = openTracer('bridge', { KM0_OTLP_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })
    const parent = newTraceparent()
    const child = tracer?.note({ name: 'work', startMs: 1_000, endMs: 1_002.5, parent, attributes: { partition: 3 } })
    const batch = tracer?.note({ name: 'batch', startMs: 1_000, endMs: 1_003, parent: null, links: [parent] })
    await tracer?.close()
    const ids = parseTraceparent(parent)
    expect(parseTraceparent(child)?.traceId).toBe(ids?.traceId)
    expect(parseTraceparent(batch)?.traceId).not.toBe(ids?.traceId)
    const [path, body] = [bodies[0]?.split(' ')[0], bodies[0]?.slice(bodies[0].indexOf(' '))]
    expect(path).toBe('/v1/traces')
    expect(JSON.parse(body ?? '')).toMatchObject({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'bridge' } }] },
          scopeSpans: [
            {
              spans: [
                { traceId: ids?.traceId, parentSpanId: ids?.spanId, startTimeUnixNano: '1000000000', endTimeUnixNano: '1002500000' },
                { links: [ids] },
              ],
            },
          ],
        },
      ],
    })
  })

  it('samples one in so many, and none unless asked', () => {
    const url = 'http://127.0.0.1:9'
    const count = (oneIn: string) => {
      const tracer = openTracer('bridge', { KM0_OTLP_URL: url, KM0_TRACE_ONE_IN: oneIn })
      return Array.from({ length: 100 }, () => tracer?.samples()).filter(Boolean).length
    }
    expect([count('0'), count('1'), count('25')]).toEqual([0, 100, 4])
  })
})
