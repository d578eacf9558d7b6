import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { DatabaseDescription } from '@km0/serving/backup/database-backup'
import { z } from 'zod'
import { CommandError } from './command.ts'

/** Parts of a backup; each is a folder in it. */
export const BACKUP_PARTS = ['postgres', 'lake', 'checkpoints', 'settings'] as const
export type BackupPart = (typeof BACKUP_PARTS)[number]

const table = z.object({
  schema: z.string(),
  name: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string(), notNull: z.boolean(), identity: z.boolean() })),
  constraints: z.array(z.string()),
  partitions: z.record(z.string(), z.string()),
})

const manifestSchema = z.object({
  format: z.literal(1),
  createdAtMs: z.number().int(),
  /** The moment of the store's rows and of the lake's catalog. */
  database: z.object({
    migrations: z.array(z.object({ number: z.number().int(), name: z.string(), sha256: z.string() })),
    tables: z.array(table),
    lakeSchema: z.string().nullable(),
    lakePath: z.string().nullable(),
    lakeFiles: z.array(z.string()),
  }),
  /** Where the checkpoints lay, for people; null when there were none to copy. */
  checkpointsPlace: z.string().nullable(),
  /** Names of settings that are not in the backup because they are secrets. */
  secretsLeftOut: z.array(z.string()),
  /** Digest and size of each file, by its path within the backup. */
  files: z.record(z.string(), z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.number().int() })),
})

/** What backup.json says. */
export type BackupManifest = Omit<z.infer<typeof manifestSchema>, 'database'> & { readonly database: DatabaseDescription }

const MANIFEST = 'backup.json'

/** A folder that becomes a backup once its list of files is written, which is the last thing: one that was cut short is none. */
export class BackupWriter {
  readonly #folder: string
  readonly #files: Record<string, { sha256: string; bytes: number }> = {}

  /** Throws CommandError when the folder holds something. */
  constructor(folder: string) {
    this.#folder = folder
    if (existsSync(folder) && readdirSync(folder).length > 0) throw new CommandError(`${folder} holds something: give it a new folder`)
    // People's positions: our user alone reads them.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  async packed(part: BackupPart, name: string, bytes: Readable): Promise<void> {
    const path = `${part}/${name}.gz`
    const digest = new Digest()
    await pipeline(bytes, createGzip({ level: 1 }), digest, createWriteStream(this.#file(path), { mode: 0o600 }))
    this.#files[path] = digest.of()
  }

  put(part: BackupPart, name: string, bytes: Uint8Array): void {
    const path = `${part}/${name}`
    writeFileSync(this.#file(path), bytes, { mode: 0o600 })
    this.#files[path] = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
  }

  finish(about: Omit<BackupManifest, 'format' | 'files'>): BackupManifest {
    const manifest: BackupManifest = { format: 1, ...about, files: this.#files }
    const path = this.#file(MANIFEST)
    writeFileSync(`${path}.new`, `${JSON.stringify(manifest)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    return manifest
  }

  #file(path: string): string {
    const file = join(this.#folder, ...path.split('/'))
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return file
  }
}

/** Reads a backup. Throws CommandError when the folder is none, or was made by a newer version. */
export class BackupReader {
  readonly manifest: BackupManifest
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    const file = join(folder, MANIFEST)
    if (!existsSync(file)) throw new CommandError(`${folder} is no backup: ${MANIFEST} is missing, as where a backup was cut short`)
    const parsed = manifestSchema.safeParse(jsonOf(readFileSync(file, 'utf8')))
    if (!parsed.success) throw new CommandError(`${file} cannot be read by this version: ${z.prettifyError(parsed.error)}`)
    this.manifest = parsed.data
  }

  /** Compares every file with its digest. Throws CommandError that names those that are missing or changed. */
  async check(): Promise<void> {
    const wrong: string[] = []
    for (const [path, { sha256, bytes }] of Object.entries(this.manifest.files)) {
      if (path.split('/').some((word) => word === '..' || word === '')) throw new CommandError(`the backup names a file ${path}`)
      const found = await digestOf(this.#file(path))
      if (found?.sha256 !== sha256 || found.bytes !== bytes) wrong.push(`${path}${found === null ? ' is missing' : ' has other bytes'}`)
    }
    if (wrong.length > 0) throw new CommandError(`the backup is damaged, nothing was changed: ${wrong.slice(0, 10).join(', ')}`)
  }

  /** Names of a part's files, within the part. */
  names(part: BackupPart): string[] {
    return Object.keys(this.manifest.files).flatMap((path) => (path.startsWith(`${part}/`) ? [path.slice(part.length + 1)] : []))
  }

  read(part: BackupPart, name: string): Buffer {
    return readFileSync(this.#file(`${part}/${name}`))
  }

  unpacked(part: BackupPart, name: string): Readable {
    const unzip = createGunzip()
    createReadStream(this.#file(`${part}/${name}.gz`))
      .on('error', (error) => unzip.destroy(error))
      .pipe(unzip)
    return unzip
  }

  #file(path: string): string {
    return join(this.#folder, ...path.split('/'))
  }
}

class Digest extends Transform {
  readonly #hash = createHash('sha256')
  #bytes = 0

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.#hash.update(chunk)
    this.#bytes += chunk.length
    done(null, chunk)
  }

  of(): { sha256: string; bytes: number } {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes }
  }
}

async function digestOf(file: string): Promise<{ sha256: string; bytes: number } | null> {
  if (!existsSync(file)) return null
  const digest = new Digest()
  digest.resume()
  await pipeline(createReadStream(file), digest)
  return digest.of()
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
