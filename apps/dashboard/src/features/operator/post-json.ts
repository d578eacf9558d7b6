import type { PanelError } from '@km0/contracts/panel'
import { sessionLine } from '../sign-in/session-line.ts'

/** Answer of a command: its value, or why not, in words for people (the server's, which are English, or none when there is no line). */
export type Answer<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly reason: string | null }

/** Keys of commands whose answer never came, by path and body: sent again, they are the same command. */
const unanswered = new Map<string, string>()
const UNANSWERED_MAX = 50

/** A command that takes longer than this has failed; it may still have been carried out. */
const TIMEOUT_MS = 10_000

/**
 * Sends a command. One whose answer was lost on the way may have been carried out; sent again as it was, it carries the same key, and the server
 * answers as it did the first time instead of doing it twice.
 */
export async function postJson<Value>(path: string, body: unknown, timeoutMs = TIMEOUT_MS): Promise<Answer<Value>> {
  const text = JSON.stringify(body)
  const command = `${path} ${text}`
  const key = unanswered.get(command) ?? newKey()
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: text,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const value: unknown = await response.json()
    unanswered.delete(command)
    if (response.ok) return { ok: true, value: value as Value }
    if (response.status === 401) sessionLine.refused()
    const { error, hint } = value as PanelError
    return { ok: false, reason: `${error}. ${hint}` }
  } catch {
    unanswered.set(command, key)
    const [oldest] = unanswered.keys()
    if (unanswered.size > UNANSWERED_MAX && oldest !== undefined) unanswered.delete(oldest)
    return { ok: false, reason: null }
  }
}

/** Not `randomUUID`: a page that is not served over TLS has none. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
