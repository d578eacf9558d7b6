// Where downloads are kept. Plain JavaScript: the start asks before anything is installed or built.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Folder of downloads that all clones of one user share: KM0_CACHE_DIR, else ~/.cache/km0. */
function cacheRoot(environment = process.env) {
  return environment.KM0_CACHE_DIR ?? join(environment.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'km0')
}

/** Folder of the jars that the repository's pom.xml names; it exists only when complete. */
export function jarFolder(root, environment = process.env) {
  const pom = readFileSync(join(root, 'infra', 'embedded', 'pom.xml'))
  return join(cacheRoot(environment), `jars-${createHash('sha256').update(pom).digest('hex').slice(0, 16)}`)
}
