import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const zipped = promisify(gzip)
const unzipped = promisify(gunzip)

/** The fastest level: numbers that lie near each other halve all the same. */
export const zip = async (bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> => Uint8Array.from(await zipped(bytes, { level: 1 }))

/** Answers with packed columns that `zip` has made small. */
export async function sendZipped(request: IncomingMessage, response: ServerResponse, bytes: Uint8Array): Promise<void> {
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const body = takesGzip ? bytes : await unzipped(bytes)
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': body.byteLength,
    'cache-control': 'no-store',
    vary: 'accept-encoding',
    ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
  })
  response.end(body)
}

/** Is aborted when who asked has gone before the answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableEnded) gone.abort()
  })
  return gone.signal
}
