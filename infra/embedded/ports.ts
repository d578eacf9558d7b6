import { createServer } from 'node:net'

const LAST_PORT = 65_535
/** Below the range from which Linux takes the ports of outgoing connections, so that no client of ours sits on a server's port. */
const RANDOM_PORTS = { first: 20_000, last: 31_999 }

/** Whether nothing listens on the port of this address now. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

/**
 * A free port of 127.0.0.1: `preferred` or the next free one after it; any when `preferred` is undefined or 0.
 * `taken` are ports that were given away but where nothing listens yet. Throws when none is left.
 */
export async function freePort(preferred?: number, taken: ReadonlySet<number> = new Set(), isFree = isPortFree): Promise<number> {
  const span = RANDOM_PORTS.last - RANDOM_PORTS.first
  const first = preferred ? preferred : RANDOM_PORTS.first + Math.floor(Math.random() * span)
  for (let port = first; port <= LAST_PORT; port++) {
    if (!taken.has(port) && (await isFree(port))) return port
  }
  throw new Error(`no free port from ${first} up`)
}
