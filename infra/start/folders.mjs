import { createHash } from 'node:crypto'
import { basename, join, resolve } from 'node:path'

/** Raised when what lies in a data folder can no longer be read as it is. */
export const DATA_VERSION = 1

/**
 * Folder of one platform: the demo's, or one of its own for each played file.
 * @param {{dataDir: string, play: string | null}} options
 * @param {string} root
 */
export function dataFolder(options, root) {
  const base = resolve(root, options.dataDir)
  if (options.play === null) return base
  const hash = createHash('sha256').update(resolve(options.play)).digest('hex').slice(0, 6)
  const name = basename(options.play)
    .replace(/\.[^.]*$/, '')
    .replace(/[^\w-]+/g, '-')
    .slice(0, 40)
  return join(base, `play-${name}-${hash}`)
}
