import { EVERYTHING } from '@km0/contracts/panel'
import { openSignInStore } from '@km0/serving'
import { makeKey } from '@km0/signin/keys'

/** Header by which the panel lets a test in: a token that sees every van, made in the store as an administrator makes one. */
export async function authorizationFor(databaseUrl: string): Promise<{ readonly authorization: string }> {
  const store = openSignInStore({ databaseUrl, applicationName: 'km0-chaos' })
  try {
    const { secret } = await makeKey(store, { kind: 'token', name: 'chaos', scope: EVERYTHING, createdBy: 'chaos', nowMs: Date.now() })
    return { authorization: `Bearer ${secret}` }
  } finally {
    await store.close()
  }
}
