import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Takes one run event. Resolves false when it is refused for good; rejects when it may be taken later. */
export type LineageSink = (event: object) => Promise<boolean>

const ANSWER_WITHIN_MS = 5_000
/** Answers after which the same event may be taken: https://www.rfc-editor.org/rfc/rfc9110#section-15.5 */
const LATER = new Set([401, 403, 404, 408, 425, 429])

/**
 * Where run events go: `file:///path`, a line of JSON each, or an HTTP address, a POST each, as OpenLineage's endpoints take them
 * (`…/api/v1/lineage`). `key` is sent as a bearer token.
 */
export function lineageSink(url: string, key: string | undefined): LineageSink {
  if (url.startsWith('file:')) {
    const file = fileURLToPath(url)
    return async (event) => {
      await mkdir(dirname(file), { recursive: true })
      await appendFile(file, `${JSON.stringify(event)}\n`)
      return true
    }
  }
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
  return async (event) => {
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(event), signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    await answer.body?.cancel()
    if (answer.ok) return true
    if (answer.status >= 500 || LATER.has(answer.status)) throw new Error(`${new URL(url).host} answers ${answer.status}`)
    return false
  }
}
