import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of the repository: the nearest folder above this file (or its bundle) that holds pnpm-workspace.yaml. Throws when there is none. */
export function repositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('pnpm-workspace.yaml is in no folder above the program: run it inside the repository')
    folder = parent
  }
  return folder
}
