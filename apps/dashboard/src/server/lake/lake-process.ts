import { type ChildProcess, fork } from 'node:child_process'
import { type LakeReads, LakeTroubleError, type ReplayQuery, type VanDayQuery } from './lake-reads.ts'
import type { FromReader, ToReader } from './messages.ts'

/** The reader stops a read that is too slow by itself, and another one may go before it. What goes on for longer is ended with its process. */
const GRACE_MS = 5_000

export interface LakeProcessOptions {
  /** Bundle of `lake-reader.ts`. */
  readonly program: string
  readonly environment: NodeJS.ProcessEnv
  readonly queryMs: number
  /** Opening may fetch extensions, once. Whoever asks meanwhile is told so after this time. */
  readonly openingMs?: number
  readonly idleMs: number
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array<ArrayBuffer>) => void
  readonly reject: (error: Error) => void
  timer: NodeJS.Timeout
}

/** The lake read by a process of its own: started when somebody asks, ended after a while in which nobody does, or when it hangs. */
export class LakeProcess implements LakeReads {
  readonly #options: LakeProcessOptions
  readonly #waiting = new Map<number, Waiting>()
  #child: ChildProcess | null = null
  #idle: NodeJS.Timeout | undefined
  #nextId = 1
  #closed = false

  constructor(options: LakeProcessOptions) {
    this.#options = options
  }

  vanDay(query: VanDayQuery, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return this.#ask({ kind: 'vanDay', query }, signal)
  }

  replay(query: ReplayQuery, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return this.#ask({ kind: 'replay', query }, signal)
  }

  /** Process id while it runs; null otherwise. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  #ask(
    message: { kind: 'vanDay'; query: VanDayQuery } | { kind: 'replay'; query: ReplayQuery },
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#closed || signal.aborted) return Promise.reject(new DOMException('nobody waits for it', 'AbortError'))
    clearTimeout(this.#idle)
    this.#child ??= this.#start()
    const child = this.#child
    const id = this.#nextId
    this.#nextId += 1
    return new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) => {
      const cancel = () => {
        send(child, { id, kind: 'cancel' })
        this.#settle(id)?.reject(new DOMException('nobody waits for it any more', 'AbortError'))
      }
      const done = () => signal.removeEventListener('abort', cancel)
      this.#waiting.set(id, {
        resolve: (bytes) => {
          done()
          resolve(bytes)
        },
        reject: (error) => {
          done()
          reject(error)
        },
        timer: setTimeout(() => this.#stillOpening(id), this.#options.openingMs ?? 15_000),
      })
      signal.addEventListener('abort', cancel)
      send(child, { id, ...message })
    })
  }

  #start(): ChildProcess {
    const child = fork(this.#options.program, [], {
      env: this.#options.environment,
      execArgv: ['--enable-source-maps'],
      serialization: 'advanced',
    })
    child.on('message', (message) => this.#onMessage(message as FromReader))
    child.on('error', () => child.kill('SIGKILL'))
    child.on('exit', (code, by) => {
      if (this.#child === child) this.#child = null
      const says = `the process that reads the lake has ended (${by ?? `code ${code}`}); it is started again when it is asked`
      for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(new LakeTroubleError({ kind: 'unavailable', says }))
    })
    return child
  }

  #onMessage(message: FromReader): void {
    const waiting = this.#waiting.get(message.id)
    if (waiting === undefined) return
    if (message.kind === 'started') {
      clearTimeout(waiting.timer)
      waiting.timer = setTimeout(() => this.#hangs(), 2 * this.#options.queryMs + GRACE_MS)
      return
    }
    this.#settle(message.id)
    if (message.kind === 'answer') waiting.resolve(Uint8Array.from(message.bytes))
    else if (message.kind === 'trouble') waiting.reject(new LakeTroubleError(message.trouble))
    else waiting.reject(new Error(message.message))
  }

  #stillOpening(id: number): void {
    this.#settle(id)?.reject(
      new LakeTroubleError({ kind: 'opening', says: 'the lake is still being opened; at the first time its extensions are fetched' }),
    )
  }

  /** A read that goes on and on is ended with its process; whoever else waits on it is told and asks again. */
  #hangs(): void {
    this.#child?.kill('SIGKILL')
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    clearTimeout(waiting.timer)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0 && !this.#closed) {
      clearTimeout(this.#idle)
      this.#idle = setTimeout(() => this.#child?.kill('SIGTERM'), this.#options.idleMs)
      this.#idle.unref()
    }
    return waiting
  }
}

/** A process that is just ending takes no message; its exit settles what waits. */
function send(child: ChildProcess, message: ToReader): void {
  if (child.connected) child.send(message, () => undefined)
}
