import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Import {
  readonly file: string
  readonly line: number
  readonly target: string
}

const SKIPPED = new Set(['node_modules', 'dist', '.next', '.generated', 'public', 'vectors', 'target'])
const SPECIFIER = /(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+|\brequire\s*\(\s*)['"]([^'"]+)['"]/g

/** Source files below a folder, relative to the working directory. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(path)
    return /\.(ts|tsx|mts|mjs|cjs|js)$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : []
  })
}

/** Every import of a file, static, dynamic and type-only. */
export function importsOf(file: string): Import[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      if (/^\s*(\/\/|\*|\/\*)/.test(text)) return []
      return [...text.matchAll(SPECIFIER)].map((match) => ({ file, line: index + 1, target: match[1] ?? '' }))
    })
}

/** `@km0/contracts/x` -> packages/contracts; null for what is not ours. */
export function ourRoom(target: string, rooms: readonly string[]): string | null {
  const name = /^@km0\/([^/]+)/.exec(target)?.[1]
  if (name === undefined) return null
  return rooms.find((room) => room === name || room.endsWith(`/${name}`)) ?? `@km0/${name}`
}

/** The npm package of a specifier: `@turf/distance/x` -> `@turf/distance`. */
export function packageName(target: string): string {
  const parts = target.split('/')
  return target.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? target)
}
