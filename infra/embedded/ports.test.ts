import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { freePort, isPortFree } from './ports.ts'

describe('choice of a port', () => {
  const freeExcept =
    (...busy: number[]) =>
    async (port: number) =>
      !busy.includes(port)

  it('takes the preferred one, or the next that is neither busy nor given away', async () => {
    expect(await freePort(5000, new Set(), freeExcept())).toBe(5000)
    expect(await freePort(5000, new Set([5001]), freeExcept(5000, 5002))).toBe(5003)
  })

  it('takes any outside the range of outgoing connections when none is preferred', async () => {
    const port = await freePort(undefined, new Set(), freeExcept())
    expect(port).toBeGreaterThanOrEqual(20_000)
    expect(port).toBeLessThan(32_768)
  })

  it('gives no port twice to services that start at the same time, and a named one to whoever names it', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, () => freePort(undefined, new Set(), freeExcept())))
    expect(new Set(ports).size).toBe(200)
    const [port = 0] = ports
    expect(await freePort(port, new Set(), freeExcept())).toBe(port)
    expect(await freePort(port, new Set(), freeExcept(port))).not.toBe(port)
  })

  it('fails when none is left', async () => {
    await expect(freePort(65_534, new Set(), async () => false)).rejects.toThrow(/no free port from 65534/)
  })

  it('sees a port on which somebody listens', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    expect(await isPortFree(port)).toBe(false)
    await new Promise((resolve) => server.close(resolve))
    expect(await isPortFree(port)).toBe(true)
  })
})
