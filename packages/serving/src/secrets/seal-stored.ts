import { Pool, type PoolOptions } from '../pool.ts'
import type { SecretBox } from './secret-box.ts'

/** Where secrets of webhooks belong. */
export const WEBHOOK_SECRET = 'km0.subscription.secret'

/**
 * Seals with the present key whatever is not: secrets of before there were keys, and those of a key before. All of them or none. Resolves to how
 * many there were. Throws SecretsKeyError when one cannot be opened.
 */
export async function sealStored(options: PoolOptions, box: SecretBox): Promise<number> {
  const pool = new Pool({ ...options, maxConnections: 1 })
  try {
    return await pool.transaction('begin', async (client) => {
      const { rows } = await client.query<{ id: number; secret: string }>(
        'select id, secret from km0.subscription where secret is not null order by id for update',
      )
      const old = rows.filter(({ secret }) => !box.isCurrent(secret))
      for (const { id, secret } of old) {
        await client.query('update km0.subscription set secret = $2 where id = $1', [
          id,
          box.seal(box.open(secret, WEBHOOK_SECRET), WEBHOOK_SECRET),
        ])
      }
      return old.length
    })
  } finally {
    await pool.close()
  }
}
