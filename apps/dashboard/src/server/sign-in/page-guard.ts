import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sessions } from './session.ts'

export const SIGN_IN_PAGE = '/entrada'

/**
 * Sends whoever opens a page without a session to the page on which one signs in. Pages hold no data, which comes by REST and socket, so this is
 * for people's sake: what is no page, and every page while nobody knows who is signed in, passes.
 */
export class PageGuard {
  readonly #sessions: Sessions

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  /** False when the request has been answered. */
  async mayPass(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { pathname, search } = new URL(request.url ?? '/', 'http://panel')
    const isPage = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html') && !pathname.startsWith('/_next/')
    if (!isPage || pathname === SIGN_IN_PAGE) return true
    const session = await this.#sessions.find(request.headers).catch(() => 'unknown' as const)
    if (session !== null) return true
    response.writeHead(302, {
      location: `${SIGN_IN_PAGE}?${new URLSearchParams({ torna: pathname + search })}`,
      'cache-control': 'no-store',
    })
    response.end()
    return false
  }
}
