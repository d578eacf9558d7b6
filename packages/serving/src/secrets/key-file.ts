import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { PoolOptions } from '../pool.ts'
import { sealStored } from './seal-stored.ts'
import { newSecretsKey, openSecretBox, parseSecretsKeys, SecretsKeyError } from './secret-box.ts'

/** Only our user may read it. */
const MODE = 0o600

/** Makes the file of keys where there is none. */
export function makeSecretsKeyFile(file: string): void {
  if (!existsSync(file)) writeFileSync(file, `${newSecretsKey()}\n`, { mode: MODE, flag: 'wx' })
}

/**
 * A new key: it is put first into the file, then whatever is sealed is sealed with it. Of the keys before the newest stays in the file, for what a
 * program was sealing at that moment; the next rotation takes it away. Programs run on: they read the file at each use. Resolves to how many secrets
 * there were. When it is cut short nothing is lost: the file holds all keys, and it may be called again. Throws SecretsKeyError.
 */
export async function rotateSecretsKey(file: string, options: PoolOptions): Promise<number> {
  if (!existsSync(file))
    throw new SecretsKeyError(`there is no file ${file}: programs make none by themselves, \`npm start\` and compose do`)
  const before = parseSecretsKeys(readFileSync(file, 'utf8')).map((key) => key.toString('base64'))
  const fresh = newSecretsKey()
  write(file, [fresh, ...before])
  const sealed = await sealStored(options, openSecretBox({ file }))
  write(file, [fresh, ...before.slice(0, 1)])
  return sealed
}

/** Whole or not at all, with the rights that it has. */
function write(file: string, keys: readonly string[]): void {
  const part = `${file}.part`
  writeFileSync(part, `${keys.join('\n')}\n`, { mode: statSync(file).mode & 0o777 })
  renameSync(part, file)
}
