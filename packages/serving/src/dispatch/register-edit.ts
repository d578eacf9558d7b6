import type { Pool } from '../pool.ts'
import { RegisterImportError } from '../register.ts'

/** Takes a depot's calendar away: from then on its vans are judged by where they stand. Whether it had one. */
export async function clearShifts(pool: Pool, depotId: string): Promise<boolean> {
  const rows = await pool.query('delete from km0.shift where depot_id = $1 returning depot_id', [depotId])
  return rows.length > 0
}

/**
 * Takes a depot or a market out of the register. False when there is none. Throws RegisterImportError while vans are of the depot, or depots of the
 * market: nobody is left pointing at nothing.
 */
export function removePlace(pool: Pool, kind: 'depots' | 'markets', id: string): Promise<boolean> {
  return pool.transaction('begin', async (client) => {
    const { rows: users } =
      kind === 'depots'
        ? await client.query<{ id: string }>('select van as id from km0.van where depot_id = $1 order by van limit 4', [id])
        : await client.query<{ id: string }>('select id from km0.depot where $1 = any(markets) order by id limit 4', [id])
    if (users.length > 0) {
      const names = users.slice(0, 3).map((user) => user.id)
      const problem = `${names.join(', ')}${users.length > 3 ? ' and others' : ''} ${kind === 'depots' ? 'have this depot' : 'serve this market'}; change them first`
      throw new RegisterImportError([{ line: 1, problem }])
    }
    const { rowCount } = await client.query(`delete from km0.${kind === 'depots' ? 'depot' : 'market'} where id = $1`, [id])
    return rowCount === 1
  })
}
