import { homedir } from 'node:os'
import { join } from 'node:path'

/** Folder of downloads that all clones of one user share: KM0_CACHE_DIR, else ~/.cache/km0. */
export function cacheRoot() {
  return process.env.KM0_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'km0')
}
