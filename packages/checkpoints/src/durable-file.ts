import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Writes a file so that after a power cut it holds the old or the new text, never half of it: temporary file, fsync, rename, fsync of the
 * directory. Makes the directory.
 */
export async function writeDurably(file: string, data: Uint8Array): Promise<void> {
  await viaTemporary(file, data, (temporary) => rename(temporary, file))
}

/** The same for a file that must be new. False, and nothing is changed, when it is there: a link is made by one process only. */
export async function createDurably(file: string, data: Uint8Array): Promise<boolean> {
  try {
    await viaTemporary(file, data, async (temporary) => {
      await link(temporary, file)
      await rm(temporary)
    })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function viaTemporary(file: string, data: Uint8Array, place: (temporary: string) => Promise<void>): Promise<void> {
  const directory = dirname(file)
  await mkdir(directory, { recursive: true })
  const temporary = join(directory, `.${randomBytes(6).toString('hex')}.part`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(data)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await place(temporary)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
