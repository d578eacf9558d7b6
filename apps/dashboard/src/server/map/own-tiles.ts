import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { OWN_TILES_PATH } from '../../features/map/own-map-settings.ts'
import { Refusal } from '../guard.ts'
import { type Handler, type Routes, sessionOf } from '../rest.ts'

/** Most that one request may ask for: the largest directory of an archive is 16 KiB, a tile a few hundred. */
const RANGE_MAX_BYTES = 8 * 1024 * 1024

/** The archive in parts, as its readers ask for it: `Range: bytes=FROM-TO` alone. */
export function ownTilesRoutes(path: string): Routes {
  const part: Handler = async (request, response) => {
    // Whoever may see no van still sees the map; whoever has no session does not come here.
    sessionOf(request)
    const { size, mtimeMs } = await stat(path)
    const range = readRange(request.headers.range, size)
    if (range === null) throw new Refusal(416, 'which part?', 'Send "Range: bytes=FROM-TO", at most 8 MiB, within the archive.')
    response.writeHead(206, {
      'content-type': 'application/vnd.pmtiles',
      'content-range': `bytes ${range.from}-${range.to}/${size}`,
      'content-length': range.to - range.from + 1,
      'accept-ranges': 'bytes',
      etag: `"${size}-${Math.round(mtimeMs)}"`,
      'cache-control': 'private, max-age=3600',
    })
    const stream = createReadStream(path, { start: range.from, end: range.to })
    stream.on('error', () => response.destroy())
    stream.pipe(response)
  }
  return new Map([[OWN_TILES_PATH, { GET: part }]])
}

/** First and last byte that a Range header asks for; null when it is none that we answer. */
export function readRange(header: string | undefined, size: number): { readonly from: number; readonly to: number } | null {
  const found = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header ?? '')
  if (found === null) return null
  const from = Number(found[1])
  const to = Math.min(Number(found[2]), size - 1)
  return from > to || to - from + 1 > RANGE_MAX_BYTES ? null : { from, to }
}
