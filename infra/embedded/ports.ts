import { createServer } from 'node:net'

const LAST_PORT = 65_535
/** Below the range from which Linux takes the ports of outgoing connections, so that no client of ours sits on a server's port. */
const RANDOM_PORTS = { first: 20_000, last: 31_999 }
/** Processes that look for ports at the same time begin in different parts of the range. */
const PARTS = 24
/** A service that was given a port needs a while until it listens on it: nobody else of this process gets it meanwhile. */
const GIVEN_FOR_MS = 60_000
const givenAtMs = new Map<number, number>()

const isGiven = (port: number) => performance.now() - (givenAtMs.get(port) ?? Number.NEGATIVE_INFINITY) < GIVEN_FOR_MS

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
 * `taken` are ports that others were given but where nothing listens yet; those that this process was given are known. Throws when none is left.
 */
export async function freePort(preferred?: number, taken: ReadonlySet<number> = new Set(), isFree = isPortFree): Promise<number> {
  const span = Math.floor((RANDOM_PORTS.last + 1 - RANDOM_PORTS.first) / PARTS)
  const first = preferred ? preferred : RANDOM_PORTS.first + (process.pid % PARTS) * span + Math.floor(Math.random() * span)
  for (let port = first; port <= LAST_PORT; port++) {
    // Whoever names a port knows whose it was.
    if (taken.has(port) || (port !== preferred && isGiven(port))) continue
    givenAtMs.set(port, performance.now())
    if (await isFree(port)) return port
  }
  throw new Error(`no free port from ${first} up`)
}
