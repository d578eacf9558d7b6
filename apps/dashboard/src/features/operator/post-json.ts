import type { PanelError } from '@km0/contracts/panel'
import { sessionLine } from '../sign-in/session-line.ts'

/** Answer of a command: its value, or why not, in words for people (the server's, which are English, or none when there is no line). */
export type Answer<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly reason: string | null }

/** Keys of commands whose answer never came, by path and body: sent again, they are the same command. */
const unanswered = new Map<string, string>()
const UNANSWERED_MAX = 50

/** A command that takes longer than this has failed; it may still have been carried out. */
const TIMEOUT_MS = 10_000

export async function postJson<Value>(path: string, body: unknown, timeoutMs = TIMEOUT_MS): Promise<Answer<Value>> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const value: unknown = await response.json()
    if (response.ok) return { ok: true, value: value as Value }
    if (response.status === 401) sessionLine.refused()
    const { error, hint } = value as PanelError
    return { ok: false, reason: `${error}. ${hint}` }
  } catch {
    return { ok: false, reason: null }
  }
}
