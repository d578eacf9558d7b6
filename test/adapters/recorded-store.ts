import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { Pool } from '@km0/serving/pool'

export interface RecordedQuery {
  readonly text: string
  readonly values: readonly unknown[] | null
}

/**
 * A store as the code of an older commit wrote it, as SQL, and every statement that this code said to it meanwhile, each once: writes of results, late
 * points, marks, stock, register and versions, and reads of the panel, of days, dirty hours, outages, stock and backfills.
 */
export function recordedStore(commit: string): { readonly sql: string; readonly queries: readonly RecordedQuery[] } {
  const read = (ending: string) =>
    gunzipSync(readFileSync(new URL(`./recorded/store-${commit}.${ending}.gz`, import.meta.url))).toString('utf8')
  return { sql: read('sql'), queries: JSON.parse(read('queries.json')) as RecordedQuery[] }
}

const isRead = ({ text }: RecordedQuery) =>
  /^\s*(select|with)\b/i.test(text) && !/\b(insert into|update|delete from|for (update|share))\b/i.test(text)

/** What the reads answer, rows in no order, by statement. */
export async function answersOf(pool: Pool, queries: readonly RecordedQuery[]): Promise<Record<string, string[]>> {
  const answers: Record<string, string[]> = {}
  for (const { text, values } of queries.filter(isRead))
    answers[text] = (await pool.query(text, values ?? [])).map((row) => JSON.stringify(row)).sort()
  return answers
}

/** Rows that are there already are no fault of the schema. */
const isThere = (error: unknown) => error instanceof Error && 'code' in error && String(error.code).startsWith('23')

/** Says every statement, each in a transaction that is rolled back. Returns those that the schema refuses, with why. */
export async function refusedOf(pool: Pool, queries: readonly RecordedQuery[]): Promise<string[]> {
  const refused: string[] = []
  for (const { text, values } of queries) {
    try {
      await pool.transaction('begin', async (client) => {
        await client.query(text, [...(values ?? [])])
        throw new RolledBack()
      })
    } catch (error) {
      if (!(error instanceof RolledBack) && !isThere(error))
        refused.push(`${error instanceof Error ? error.message : String(error)}: ${text}`)
    }
  }
  return refused
}

class RolledBack extends Error {}
