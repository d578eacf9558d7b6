import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '@km0/infra/embedded/ports'

type State = 'open' | 'refused' | 'silent'

/**
 * A TCP proxy on 127.0.0.1 that can be cut: `refuse` hangs up on everybody until `mend`; `silence` keeps every connection, old and new,
 * and carries no byte either way until `mend`.
 */
export class Wire {
  readonly port: number
  readonly #server: Server
  readonly #pairs = new Set<{ readonly near: Socket; far: Socket | null }>()
  #target = 0
  #state: State = 'open'

  private constructor(port: number, server: Server) {
    this.port = port
    this.#server = server
    server.on('connection', (near) => this.#accept(near))
  }

  static async open(port?: number): Promise<Wire> {
    const free = await freePort(port)
    const server = createServer({ noDelay: true, pauseOnConnect: true })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(free, '127.0.0.1', resolve)
    })
    return new Wire(free, server)
  }

  /** Port of 127.0.0.1 to which it leads. */
  leadTo(port: number): void {
    this.#target = port
  }

  refuse(): void {
    this.#state = 'refused'
    this.#hangUp()
  }

  silence(): void {
    this.#state = 'silent'
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket?.pause()
  }

  mend(): void {
    this.#state = 'open'
    for (const pair of this.#pairs) {
      if (pair.far === null) this.#join(pair)
      for (const socket of [pair.near, pair.far]) socket?.resume()
    }
  }

  async close(): Promise<void> {
    this.#hangUp()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #hangUp(): void {
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket?.destroy()
  }

  #accept(near: Socket): void {
    near.on('error', () => {})
    if (this.#state === 'refused' || this.#target === 0) return void near.destroy()
    const pair = { near, far: null }
    this.#pairs.add(pair)
    near.once('close', () => this.#pairs.delete(pair))
    if (this.#state === 'open') this.#join(pair)
  }

  #join(pair: { readonly near: Socket; far: Socket | null }): void {
    const { near } = pair
    const far = createConnection({ port: this.#target, host: '127.0.0.1', noDelay: true })
    pair.far = far
    far.on('error', () => {})
    // Not `pipe`: it would resume by itself what `silence` has paused.
    const carry = (from: Socket, to: Socket) => {
      from.on('data', (chunk) => {
        if (to.write(chunk)) return
        from.pause()
        to.once('drain', () => {
          if (this.#state === 'open') from.resume()
        })
      })
      from.once('end', () => to.end())
      from.once('close', () => to.destroy())
    }
    carry(near, far)
    carry(far, near)
    near.resume()
  }
}
