import { createHmac } from 'node:crypto'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { PrivateAddressError, publicLookup, requirePublic } from './address-guard.ts'
import { type Outcome, shortAnswer, wordsOf } from './outcome.ts'

export interface WebhookMessage {
  readonly url: string
  readonly secret: string | null
  /** Natural key: the same for every try, and for one that is sent again. */
  readonly key: string
  readonly kind: string
  readonly attempt: number
  readonly contentType: string
  readonly body: string
}

export interface WebhookOptions {
  readonly timeoutMs: number
  /** Private, local and reserved addresses too. */
  readonly allowPrivate: boolean
  readonly nowMs: () => number
}

/** How much of an answer is read. */
const ANSWER_MAX_BYTES = 2_048

/** `t=SECONDS,v1=HEX`: HMAC-SHA256 under the secret of the seconds, a point, and the body. */
export function signatureOf(secret: string, body: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

/** POSTs a message. Taken: an answer of 200 to 299. Redirections are not followed. 410 says that nobody wants it any more. */
export async function sendWebhook(message: WebhookMessage, options: WebhookOptions): Promise<Outcome> {
  try {
    const { status, text } = await post(message, options)
    const answer = shortAnswer(`${status} ${text}`)
    if (status >= 200 && status < 300) return { kind: 'taken', answer }
    return { kind: status === 410 ? 'refused' : 'later', answer }
  } catch (error) {
    return { kind: error instanceof PrivateAddressError ? 'refused' : 'later', answer: wordsOf(error) }
  }
}

function post(message: WebhookMessage, options: WebhookOptions): Promise<{ readonly status: number; readonly text: string }> {
  const url = new URL(message.url)
  if (!options.allowPrivate) requirePublic(url)
  const body = Buffer.from(message.body, 'utf8')
  const seconds = Math.floor(options.nowMs() / 1_000)
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(
      url,
      {
        method: 'POST',
        agent: false,
        signal: AbortSignal.timeout(options.timeoutMs),
        ...(options.allowPrivate ? {} : { lookup: publicLookup }),
        headers: {
          'content-type': message.contentType,
          'content-length': body.length,
          'user-agent': 'quilometre-zero',
          'km0-key': encodeURIComponent(message.key),
          'km0-event': message.kind,
          'km0-attempt': message.attempt,
          ...(message.secret === null ? {} : { 'km0-signature': signatureOf(message.secret, message.body, seconds) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        let length = 0
        const done = () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') })
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          length += chunk.length
          if (length < ANSWER_MAX_BYTES) return
          done()
          response.destroy()
        })
        response.on('end', done)
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
