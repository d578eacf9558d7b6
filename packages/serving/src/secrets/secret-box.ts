import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** There is no key, or not the one that something was sealed with. The message says what to do. */
export class SecretsKeyError extends Error {
  override readonly name = 'SecretsKeyError'
}

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
/** What stands before a sealed secret; secrets of ours hold no colon. */
const SEALED = 'sealed:1:'

/** A new key as the file of keys holds it. */
export const newSecretsKey = (): string => randomBytes(KEY_BYTES).toString('base64')

/** Keys of a text: one a line, 32 bytes in base64, the one that seals first. Throws SecretsKeyError. */
export function parseSecretsKeys(text: string): Buffer[] {
  const keys = text
    .split(/\s+/)
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'base64'))
  if (keys.length === 0 || keys.some((key) => key.length !== KEY_BYTES))
    throw new SecretsKeyError('KM0_SECRETS_KEY holds lines of 32 bytes in base64: `head -c 32 /dev/urandom | base64` makes one')
  return keys
}

/** Which key it is, without telling it: 8 hex digits of its digest. */
const nameOf = (key: Buffer) => createHash('sha256').update('km0 secrets key').update(key).digest('hex').slice(0, 8)

/**
 * Seals what must be told again to somebody and may stand nowhere as it is: AES-256-GCM, under a random nonce each time. `place` says where it
 * belongs (table and column): what was sealed for another place is not opened.
 */
export class SecretBox {
  readonly #keys: () => readonly Buffer[]

  /** `keys` is asked each time, so that a key that was changed meanwhile is known. */
  constructor(keys: () => readonly Buffer[]) {
    this.#keys = keys
  }

  /** Throws SecretsKeyError without a key. */
  seal(secret: string, place: string): string {
    const key = this.#current()
    const name = nameOf(key)
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, iv)
    cipher.setAAD(Buffer.from(`${SEALED}${name}:${place}`))
    const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${SEALED}${name}:${sealed.toString('base64url')}`
  }

  /** The secret again; one that was never sealed as it is. Throws SecretsKeyError when its key is not there, or somebody has changed it. */
  open(stored: string, place: string): string {
    const { name, sealed } = parts(stored) ?? { name: null, sealed: null }
    if (sealed === null) return stored
    const key = this.#keys().find((known) => nameOf(known) === name)
    if (key === undefined)
      throw new SecretsKeyError(`a secret is sealed with the key ${name}, which KM0_SECRETS_KEY_FILE does not hold: bring that file back`)
    const iv = sealed.subarray(0, IV_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', key, iv)
    decipher.setAAD(Buffer.from(`${SEALED}${name}:${place}`))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    try {
      return decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new SecretsKeyError('a sealed secret was changed, or belongs elsewhere')
    }
  }

  /** Whether it is sealed with the key that seals now. */
  isCurrent(stored: string): boolean {
    return parts(stored)?.name === nameOf(this.#current())
  }

  #current(): Buffer {
    const [key] = this.#keys()
    if (key === undefined) throw new SecretsKeyError('no key seals secrets: set KM0_SECRETS_KEY_FILE (docs/security.md)')
    return key
  }
}

function parts(stored: string): { readonly name: string; readonly sealed: Buffer } | null {
  if (!stored.startsWith(SEALED)) return null
  const [name = '', text = ''] = stored.slice(SEALED.length).split(':')
  const sealed = Buffer.from(text, 'base64url')
  return sealed.length < IV_BYTES + TAG_BYTES ? null : { name, sealed }
}

/** Where the keys are: a file, read again at each use; a text; or nowhere, and then nothing is sealed or opened. */
export function openSecretBox({ text, file }: { readonly text?: string | undefined; readonly file?: string | undefined }): SecretBox {
  if (text !== undefined && file !== undefined)
    throw new SecretsKeyError('KM0_SECRETS_KEY and KM0_SECRETS_KEY_FILE are both set; set one of them')
  if (file !== undefined) return new SecretBox(() => parseSecretsKeys(readKeys(file)))
  const keys = text === undefined ? [] : parseSecretsKeys(text)
  return new SecretBox(() => keys)
}

function readKeys(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new SecretsKeyError(`KM0_SECRETS_KEY_FILE: ${error instanceof Error ? error.message : String(error)}`)
  }
}
