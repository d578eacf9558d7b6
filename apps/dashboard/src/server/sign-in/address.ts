import type { IncomingMessage } from 'node:http'

/** Address that a request came from. Behind a proxy of ours it is the last one of X-Forwarded-For: those before it anybody may have written. */
export function addressOf(request: IncomingMessage, behindProxy: boolean): string {
  const header = request.headers['x-forwarded-for']
  const forwarded = behindProxy && header !== undefined ? String(header).split(',').at(-1)?.trim() : undefined
  const address = forwarded === undefined || forwarded === '' ? (request.socket.remoteAddress ?? 'unknown') : forwarded
  return address.replace(/^::ffff:/, '').slice(0, 64)
}
