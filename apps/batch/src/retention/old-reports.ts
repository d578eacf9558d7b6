import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What the deliveries write: reports of a day, files of events. Nothing else in the folder is touched. */
const OURS = /\.(csv|json|part)$/

/** Deletes reports that were written before `beforeMs`. Returns their names; none where there is no such folder. */
export async function dropOldReports(folder: string, beforeMs: number): Promise<string[]> {
  const dropped: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(ignoreMissing)) {
    if (!entry.isFile() || !OURS.test(entry.name)) continue
    const path = join(folder, entry.name)
    if ((await stat(path)).mtimeMs >= beforeMs) continue
    await rm(path, { force: true })
    dropped.push(entry.name)
  }
  return dropped
}

function ignoreMissing(error: unknown): never[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
  throw error
}
