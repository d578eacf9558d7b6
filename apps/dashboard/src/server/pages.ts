import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import next from 'next'

/** The built pages (`next build` in `folder`). Rejects when they were not built. */
export async function openPages(
  folder: string,
  server: Server,
): Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> {
  const app = next({ dev: false, dir: folder, httpServer: server })
  await app.prepare()
  const handle = app.getRequestHandler()
  return async (request, response) => {
    await handle(request, response)
  }
}
