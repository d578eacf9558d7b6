import { createHash, randomBytes } from 'node:crypto'
import type { AccessKeyView, NewKeyView, Scope } from '@km0/contracts'
import type { SignInStore } from '@km0/serving'

const KEY_BYTES = 32
const HINT_CHARACTERS = 10
/** By their beginning one sees what they are, also where one was lost. */
const PREFIX = { token: 'km0t_', wall: 'km0w_' } as const
const SHAPE = /^km0[tw]_[\w-]{43}$/

/** A key of 256 random bits needs no slow hash: it cannot be guessed. Kept is its SHA-256. */
const digest = (key: string) => createHash('sha256').update(key).digest()

export async function makeKey(
  store: SignInStore,
  key: {
    readonly kind: AccessKeyView['kind']
    readonly name: string
    readonly scope: Scope
    /** It sees pseudonyms, and places on a grid. Default: as the panel's settings say. */
    readonly masked?: boolean
    readonly createdBy: string
    readonly nowMs: number
  },
): Promise<NewKeyView> {
  const { nowMs, ...rest } = key
  const secret = PREFIX[key.kind] + randomBytes(KEY_BYTES).toString('base64url')
  const row = await store.addKey({
    masked: false,
    ...rest,
    sha256: digest(secret),
    hint: secret.slice(0, HINT_CHARACTERS),
    createdAtMs: nowMs,
  })
  return { key: row, secret }
}

/** The key in force that a text is; null for any other text. */
export async function findKey(store: SignInStore, text: string, nowMs: number): Promise<AccessKeyView | null> {
  return SHAPE.test(text) ? store.useKey(digest(text), nowMs) : null
}
