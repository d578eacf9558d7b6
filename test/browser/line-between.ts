import type { AddressInfo } from 'node:net'
import { createServer, type Server, Socket } from 'node:net'

/** A line between a browser and a server that a test cuts, lets go dead, and mends. */
export class LineBetween {
  readonly #server: Server
  readonly #targetPort: number
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #state: 'open' | 'cut' | 'dead' = 'open'

  private constructor(targetPort: number) {
    this.#targetPort = targetPort
    this.#server = createServer((near) => this.#join(near))
  }

  static async open(targetPort: number): Promise<LineBetween> {
    const line = new LineBetween(targetPort)
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve))
    return line
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Connections break, and new ones are refused at once. */
  cut(): void {
    this.#state = 'cut'
    this.#breakAll()
  }

  /** Nothing gets through any more, and nobody is told: a cable that was pulled somewhere on the way. */
  die(): void {
    this.#state = 'dead'
  }

  /** New connections get through; those that were dead stay so. */
  mend(): void {
    this.#state = 'open'
  }

  async close(): Promise<void> {
    this.#breakAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(near: Socket): void {
    near.on('error', () => undefined)
    if (this.#state === 'cut') {
      near.destroy()
      return
    }
    const far = new Socket()
    far.on('error', () => undefined)
    const pair = [near, far] as const
    this.#pairs.add(pair)
    // What was begun while the line was dead stays dead.
    let dead = this.#state === 'dead'
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (chunk) => {
        dead ||= this.#state === 'dead'
        if (!dead) to.write(chunk)
      })
      from.on('close', () => {
        to.destroy()
        this.#pairs.delete(pair)
      })
    }
    far.connect(this.#targetPort, '127.0.0.1')
    pass(near, far)
    pass(far, near)
  }

  #breakAll(): void {
    for (const [near, far] of this.#pairs) {
      near.destroy()
      far.destroy()
    }
    this.#pairs.clear()
  }
}
