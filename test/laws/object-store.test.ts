import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDirectoryObjects } from '@km0/checkpoints/directory-objects'
import { afterAll } from 'vitest'
import { objectStoreLaws } from './object-store-laws.ts'

// The same laws on a bucket: test/proofs/checkpoints-s3.test.ts.
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

objectStoreLaws('a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'km0-objects-'))
  folders.push(folder)
  return openDirectoryObjects(folder)
})
