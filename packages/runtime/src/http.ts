import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import type { Health } from './health.ts'

/** Answers GET /health (200, or 503 when down), /metrics and /metrics.json (the same for programs of ours); returns false for any other path, which is then the caller's. */
export async function answerOperations(
  request: IncomingMessage,
  response: ServerResponse,
  health: Health,
  metrics: Registry,
): Promise<boolean> {
  if (request.method !== 'GET') return false
  const path = (request.url ?? '/').split('?')[0]
  if (path === '/health') {
    const report = health.report()
    response.writeHead(report.status === 'down' ? 503 : 200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(report))
    return true
  }
  if (path === '/metrics') {
    const text = await metrics.metrics()
    response.writeHead(200, { 'content-type': metrics.contentType })
    response.end(text)
    return true
  }
  if (path === '/metrics.json') {
    const families = await metrics.getMetricsAsJSON()
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(families.map(({ name, values }) => ({ name, values }))))
    return true
  }
  return false
}

export interface OperationsServer {
  readonly port: number
  close(): Promise<void>
}

/** Serves health and metrics over HTTP. Port 0 takes a free one. Rejects when the address is taken. */
export async function serveOperations(options: {
  host: string
  port: number
  health: Health
  metrics: Registry
}): Promise<OperationsServer> {
  const server = createServer((request, response) => {
    answerOperations(request, response, options.health, options.metrics)
      .then((answered) => {
        if (answered) return
        response.writeHead(404, { 'content-type': 'text/plain' })
        response.end('Here are /health and /metrics.\n')
      })
      .catch((error: unknown) => {
        response.writeHead(500, { 'content-type': 'text/plain' })
        response.end(`${String(error)}\n`)
      })
  })
  await listen(server, options.host, options.port)
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) }
}

/** Resolves when the server listens; rejects when it cannot. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Stops listening and ends idle and open connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
