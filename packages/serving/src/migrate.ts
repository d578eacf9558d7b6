import { createHash } from 'node:crypto'
import { MIGRATIONS, type Migration } from './migrations.ts'
import type { Client, Pool } from './pool.ts'

/** The database and this program do not fit together. The message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** Any number that nobody else takes: programs that start together migrate one after the other. */
const LOCK = 8_271_828_182_845

/** What was applied, and when. */
export const MIGRATION_TABLE =
  'create table if not exists km0.migration (number integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())'

const fingerprint = (sql: string) => createHash('sha256').update(sql).digest('hex')

/**
 * Brings the schema to this version; does nothing when it is there. Safe to call from several programs at once. Returns the numbers of the
 * migrations that this call applied. Throws MigrationError when the database is newer than the program, or was migrated by other text.
 */
export async function migrate(pool: Pool, migrations: readonly Migration[] = MIGRATIONS): Promise<number[]> {
  return pool.withClient(async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    try {
      return await applyMissing(client, migrations)
    } finally {
      await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined)
    }
  })
}

async function applyMissing(client: Client, migrations: readonly Migration[]): Promise<number[]> {
  await client.query('create schema if not exists km0')
  await client.query(MIGRATION_TABLE)
  const { rows } = await client.query<{ number: number; name: string; sha256: string }>('select number, name, sha256 from km0.migration')
  const applied = new Map(rows.map((row) => [row.number, row]))
  for (const { number, name } of rows) {
    if (!migrations.some((migration) => migration.number === number)) {
      throw new MigrationError(`the database has migration ${number} (${name}), which this version does not know: start a newer version.`)
    }
  }
  const done: number[] = []
  for (const { number, name, sql } of migrations) {
    const sha256 = fingerprint(sql)
    const known = applied.get(number)
    if (known !== undefined) {
      if (known.sha256 === sha256) continue
      throw new MigrationError(
        `migration ${number} (${name}) was applied with another text: this is not the version that made the database.`,
      )
    }
    await client.query('begin')
    try {
      await client.query(sql)
      await client.query('insert into km0.migration (number, name, sha256) values ($1, $2, $3)', [number, name, sha256])
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => undefined)
      throw error
    }
    done.push(number)
  }
  return done
}
