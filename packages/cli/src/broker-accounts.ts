import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MQTT_TOPICS } from '@km0/contracts'
import { CommandError } from './command.ts'

/** Accounts of our own programs. No van may be called like one: their prefix is refused for vans. */
export const OWN_ACCOUNTS = { bridge: 'km0-pont', demo: 'km0-demo' } as const
const OWN_PREFIX = 'km0-'
/** Device part of the topic on which a phone with OwnTracks publishes: one van, one phone. */
export const PHONE_DEVICE = 'mobil'

/** mosquitto_passwd's format 7: PBKDF2 with SHA-512, 12 bytes of salt, 101 rounds. Secrets are random, so more rounds would add nothing. */
const ROUNDS = 101
const SALT_BYTES = 12
const HASH_BYTES = 64
const SECRET_BYTES = 24

/**
 * What each account may do. `%u` is the name of the account, so the rules of vans do not change when one is added. Without a rule nothing is
 * allowed, reading included.
 */
const ACCESS_LIST = `# Written by \`km0 broker init\`; changes made here are lost.
# A van publishes under its own id, and reads nothing.
pattern write ${MQTT_TOPICS.positionFilter.replace('+', '%u')}
pattern write owntracks/%u/${PHONE_DEVICE}

user ${OWN_ACCOUNTS.bridge}
topic read ${MQTT_TOPICS.positionFilter}
topic read ${MQTT_TOPICS.owntracksFilter}
topic read ${MQTT_TOPICS.hfpFilter}
topic read ${MQTT_TOPICS.clock}
topic readwrite ${MQTT_TOPICS.probe}

# The demo fleet is all vans at once.
user ${OWN_ACCOUNTS.demo}
topic write ${MQTT_TOPICS.positionFilter}
`

/** A new secret: 32 characters that need no escaping in an address. */
export const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url')

/** A line's second field in mosquitto's password file. */
export function hashed(secret: string, salt = randomBytes(SALT_BYTES)): string {
  const hash = pbkdf2Sync(secret, salt, ROUNDS, HASH_BYTES, 'sha512')
  return `$7$${ROUNDS}$${salt.toString('base64')}$${hash.toString('base64')}`
}

/** Throws CommandError when the id cannot be an account: it stands in topics and in a line of the password file. */
export function checkVanId(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id))
    throw new CommandError(`${JSON.stringify(id)} cannot be the id of a van here: letters, digits, dot, dash and underscore, at most 64`)
  if (id.startsWith(OWN_PREFIX)) throw new CommandError(`${id}: names that begin with ${OWN_PREFIX} are the platform's own`)
}

/** The broker's accounts: a password file and an access list, as mosquitto reads them, in one folder. */
export class BrokerAccounts {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Writes the access list, and an empty password file where there is none. */
  prepare(): void {
    mkdirSync(this.#folder, { recursive: true })
    this.#write('acl', ACCESS_LIST)
    if (!existsSync(join(this.#folder, 'passwords'))) this.#write('passwords', '')
  }

  names(): string[] {
    return [...this.#read().keys()]
  }

  /** Gives the account a secret, a new one where it has one. */
  set(name: string, secret: string): void {
    this.#change((accounts) => accounts.set(name, hashed(secret)))
  }

  /** False when there was no such account. */
  remove(name: string): boolean {
    let existed = false
    this.#change((accounts) => {
      existed = accounts.delete(name)
    })
    return existed
  }

  #read(): Map<string, string> {
    const path = join(this.#folder, 'passwords')
    if (!existsSync(path)) throw new CommandError(`there is no ${path}: km0 broker init makes it`)
    const lines = readFileSync(path, 'utf8').split('\n')
    return new Map(
      lines.filter((line) => line.includes(':')).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    )
  }

  /** One at a time: two that read the same file would lose one change. */
  #change(change: (accounts: Map<string, string>) => void): void {
    const lock = join(this.#folder, 'passwords.lock')
    try {
      closeSync(openSync(lock, 'wx'))
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
      throw new CommandError(`another command changes the accounts; when none runs, delete ${lock}`, { cause })
    }
    try {
      const accounts = this.#read()
      change(accounts)
      this.#write('passwords', [...accounts].map(([name, hash]) => `${name}:${hash}\n`).join(''))
    } finally {
      rmSync(lock, { force: true })
    }
  }

  #write(name: string, text: string): void {
    const path = join(this.#folder, name)
    writeFileSync(`${path}.new`, text, { mode: 0o600 })
    chmodSync(`${path}.new`, 0o600)
    renameSync(`${path}.new`, path)
  }
}
