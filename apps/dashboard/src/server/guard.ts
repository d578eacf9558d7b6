import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { z } from 'zod'

/** A request that is refused, with what to do about it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly hint: string

  constructor(status: number, error: string, hint: string) {
    super(error)
    this.status = status
    this.hint = hint
  }
}

/** How much a request may bring. */
export interface BodyLimits {
  /** Bytes of a command. */
  readonly bodyMaxBytes: number
  /** Bytes of a file: a register as CSV, a zone. */
  readonly uploadMaxBytes: number
}

export const BODY_LIMITS: BodyLimits = { bodyMaxBytes: 16_384, uploadMaxBytes: 8_000_000 }

const limits = new WeakMap<IncomingMessage, BodyLimits>()

/** Sets what a request may bring; without it BODY_LIMITS hold. */
export function limitBody(request: IncomingMessage, of: BodyLimits): void {
  limits.set(request, of)
}

/**
 * Throws a Refusal unless the request was addressed to us: an address as a number, `localhost`, or a name that was set. A page elsewhere
 * that gives its own name our address (DNS rebinding) is thereby kept out.
 */
export function checkHost(headers: IncomingHttpHeaders, allowedNames: readonly string[]): void {
  const name = hostName(headers.host)
  const isNumber = /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || name.startsWith('[')
  if (isNumber || name === 'localhost' || allowedNames.includes(name)) return
  throw new Refusal(403, `requests to host "${name}" are not answered`, 'Name the host in KM0_HTTP_NAMES (comma separated) if it is yours.')
}

/** Throws a Refusal unless a request that changes something comes from a page of this panel. */
export function checkOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host } = headers
  if (origin === undefined) {
    throw new Refusal(403, 'no Origin header', `Send "Origin: http://${host ?? 'HOST'}"; browsers do so by themselves.`)
  }
  let originHost: string
  try {
    originHost = new URL(origin).host
  } catch {
    originHost = ''
  }
  if (originHost === '' || originHost !== host) {
    throw new Refusal(403, `Origin ${origin.slice(0, 100)} is not this panel`, 'Send the request from a page of the panel itself.')
  }
}

const bodies = new WeakMap<IncomingMessage, unknown>()

/** What `readBody` gave for a request, for the audit; undefined when nothing was read. */
export function bodyOf(request: IncomingMessage): unknown {
  return bodies.get(request)
}

/** The parsed JSON body of a request. Throws a Refusal: 415 for another content type, 413 when too long, 400 when it does not fit. */
export async function readBody<Schema extends z.ZodType>(
  request: IncomingMessage,
  schema: Schema,
  kind: 'command' | 'upload' = 'command',
): Promise<z.infer<Schema>> {
  const { bodyMaxBytes, uploadMaxBytes } = limits.get(request) ?? BODY_LIMITS
  const maxBytes = kind === 'upload' ? uploadMaxBytes : bodyMaxBytes
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new Refusal(415, `content type ${type === '' ? 'missing' : type}`, 'Send JSON with "Content-Type: application/json".')
  }
  const tooLong = new Refusal(413, `the body is longer than ${maxBytes} bytes`, 'Send less at a time.')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) throw tooLong
    chunks.push(chunk)
  }
  let value: unknown
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new Refusal(400, 'the body is not JSON', 'Send one JSON object.')
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) {
    bodies.set(request, parsed.data)
    return parsed.data
  }
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ')
  throw new Refusal(400, 'the body does not fit', wrong)
}

function hostName(host: string | undefined): string {
  const text = (host ?? '').toLowerCase()
  return text.startsWith('[') ? text.slice(0, text.indexOf(']') + 1) : (text.split(':')[0] ?? '')
}
