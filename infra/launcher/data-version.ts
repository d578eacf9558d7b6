import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'version'

/** What to say of data that this program cannot read; null when it can. */
export function versionProblem(found: string | null, expected: number, folder: string): string | null {
  if (found === null || found.trim() === String(expected)) return null
  const theirs = /^\d+$/.test(found.trim()) ? Number(found) : Number.NaN
  const whose = theirs > expected ? 'a newer' : theirs < expected ? 'an older' : 'another'
  return `The data in ${folder} is of ${whose} version (${found.trim()}; this one reads ${expected}).
Ways on:
  - npm start -- --reset          begins with empty data
  - npm start -- --data-dir DIR   leaves it alone and begins elsewhere
  - run the version that wrote it`
}

/** Checks the folder's version, or writes it into a new one. Returns the folder of the data itself. Throws with the ways on when it does not fit. */
export function openDataFolder(folder: string, version: number): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, FILE)
  const problem = versionProblem(existsSync(file) ? readFileSync(file, 'utf8') : null, version, folder)
  if (problem !== null) throw new Error(problem)
  writeFileSync(file, `${version}\n`)
  const data = join(folder, `v${version}`)
  mkdirSync(data, { recursive: true })
  return data
}

/** Deletes data of every version and the logs. The lock and the folders of played days stay. */
export function resetDataFolder(folder: string, versions: readonly number[]): void {
  for (const name of [FILE, 'logs', ...versions.map((version) => `v${version}`)])
    rmSync(join(folder, name), { recursive: true, force: true })
}
