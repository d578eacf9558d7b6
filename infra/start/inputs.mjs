import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The last three are written by the build of the pages itself. */
const NOT_INPUTS = new Set(['node_modules', 'dist', '.next', '.git', '.km0', 'coverage', '.generated', 'public', 'next-env.d.ts'])

/** @param {string} path @returns {string[]} Files at or below a path, in order of their names. */
function filesBelow(path) {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .filter((name) => !NOT_INPUTS.has(name))
    .sort()
    .flatMap((name) => filesBelow(join(path, name)))
}

/**
 * Hash over names and contents of files and folders below `root`; equal hashes mean that a build would give the same.
 * @param {string} root
 * @param {readonly string[]} paths
 * @param {string} [salt]
 */
export function hashInputs(root, paths, salt = '') {
  const hash = createHash('sha256').update(salt)
  for (const path of paths) {
    for (const file of filesBelow(join(root, path)))
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(readFileSync(file))
        .update('\0')
  }
  return hash.digest('hex')
}

/** @param {string} stampFile @param {string} hash */
export function isStamped(stampFile, hash) {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash
}

/** Remembers that what `hash` stands for is done. @param {string} stampFile @param {string} hash */
export function stamp(stampFile, hash) {
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, hash)
}
