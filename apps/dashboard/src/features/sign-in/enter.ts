import type { PanelError } from '@km0/contracts/panel'
import type { SessionView, SignInCommand } from '@km0/contracts/sign-in'

export type Entry =
  | { readonly kind: 'in'; readonly session: NonNullable<SessionView['session']> }
  | { readonly kind: 'refused' }
  /** Of too many attempts; in so many minutes there may be another. */
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'offline' }

/** Signs in. Never throws. */
export async function enter(command: SignInCommand): Promise<Entry> {
  try {
    const response = await fetch('/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(command),
      signal: AbortSignal.timeout(15_000),
    })
    const body = (await response.json()) as SessionView | PanelError
    if (response.ok && 'session' in body && body.session !== null) return { kind: 'in', session: body.session }
    if (response.status === 429) return { kind: 'wait', minutes: Math.max(1, Math.ceil(Number(response.headers.get('retry-after')) / 60)) }
    return response.status === 401 || response.status === 400 ? { kind: 'refused' } : { kind: 'offline' }
  } catch {
    return { kind: 'offline' }
  }
}
