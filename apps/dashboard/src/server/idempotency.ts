import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from './guard.ts'

export const IDEMPOTENCY_HEADER = 'idempotency-key'
/** How long an answer is remembered: whoever lost it in a tunnel asks again by then. */
export const REMEMBERED_MS = 60 * 60_000
/** Answers that are remembered at most; the oldest are forgotten first. */
export const REMEMBERED_MAX = 5_000
/** Longer answers are not those of commands. */
const BODY_MAX_BYTES = 64 * 1024

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}
interface Known {
  readonly atMs: number
  /** null when it did not go well: then it may be tried again. */
  readonly answer: Promise<Answer | null>
}

/**
 * Commands that carry a key happen once: whoever sends one again, because the answer was lost on the way, gets the answer of the first time. Only
 * what went well is remembered. In memory: a server that was begun anew has forgotten.
 */
export class Idempotency {
  readonly #known = new Map<string, Known>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#known.size
  }

  /** Does the work, or answers as it was answered. `who` tells those apart who may use the same key. */
  async run(request: IncomingMessage, response: ServerResponse, who: string, path: string, work: () => Promise<void>): Promise<void> {
    const given = request.headers[IDEMPOTENCY_HEADER]
    if (given === undefined || request.method === 'GET') return work()
    if (typeof given !== 'string' || !/^[\w-]{8,64}$/.test(given))
      throw new Refusal(400, 'the Idempotency-Key cannot be used', 'Send 8 to 64 letters, digits, - or _: a UUID.')
    this.#forgetOld()
    const key = `${who} ${request.method} ${path} ${given}`
    const known = await this.#known.get(key)?.answer
    if (known !== undefined && known !== null) {
      response.writeHead(known.status, { 'content-type': known.contentType, 'cache-control': 'no-store', 'idempotency-replayed': 'true' })
      response.end(known.body)
      return
    }
    // Somebody else may have begun while this one waited for an answer that did not go well.
    if (this.#known.has(key)) return this.run(request, response, who, path, work)
    let tell: (answer: Answer | null) => void = () => undefined
    this.#known.set(key, { atMs: this.#nowMs(), answer: new Promise((resolve) => (tell = resolve)) })
    const answered = recordOf(response)
    try {
      await work()
    } finally {
      const answer = answered()
      if (answer === null) this.#known.delete(key)
      tell(answer)
    }
  }

  #forgetOld(): void {
    const oldestMs = this.#nowMs() - REMEMBERED_MS
    for (const [key, { atMs }] of this.#known) {
      if (atMs >= oldestMs && this.#known.size <= REMEMBERED_MAX) break
      this.#known.delete(key)
    }
  }
}

/** Says afterwards what was answered; null unless it went well, whole and short. */
function recordOf(response: ServerResponse): () => Answer | null {
  let body: Buffer | null = null
  const end = response.end.bind(response)
  response.end = ((...given: Parameters<typeof end>) => {
    const [chunk] = given as unknown as [unknown]
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) body = Buffer.from(chunk as string)
    return end(...given)
  }) as typeof response.end
  return () => {
    const contentType = response.getHeader('content-type')
    const well = response.writableEnded && response.statusCode >= 200 && response.statusCode < 300
    if (!well || body === null || body.length > BODY_MAX_BYTES || response.hasHeader('set-cookie')) return null
    return { status: response.statusCode, contentType: typeof contentType === 'string' ? contentType : 'application/json', body }
  }
}
