import type { Server } from 'node:http'
import type { PageHandler } from './panel-server.ts'

/** Where what is stored cannot be read, the pages do not wait for it. */
const WAIT_MS = 10_000

/**
 * The built pages (`next build` in `folder`). They are started behind `first`: browsers that are open want what is new at once, and the start takes
 * seconds of the one core. Rejects when they were not built.
 */
export async function openPages(folder: string, server: Server, first: Promise<void> = Promise.resolve()): Promise<PageHandler> {
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())])
  const { default: next } = await import('next')
  const app = next({ dev: false, dir: folder, httpServer: server })
  await app.prepare()
  const handle = app.getRequestHandler()
  return async (request, response) => {
    await handle(request, response)
  }
}
