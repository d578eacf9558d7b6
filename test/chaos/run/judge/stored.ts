// Rows in PostgreSQL against what the log says.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from '@km0/serving/pool'
import { type Check, firstOf } from './check.ts'

const APPLIED_WITHIN_MS = 90_000
const LOOK_EVERY_MS = 1_000

/** A row of a table as a key and what is compared of it. */
export interface Row {
  readonly key: string
  readonly value: string
}

export const rowsOf = (pool: Pool, query: string): Promise<Row[]> => pool.query<{ key: string; value: string }>(query)

/** Asks until the rows are the wanted ones, or for so long that they will not be. */
export async function compareStored(name: string, wanted: ReadonlyMap<string, string>, read: () => Promise<Row[]>): Promise<Check> {
  const deadlineMs = performance.now() + APPLIED_WITHIN_MS
  for (;;) {
    const rows = await read()
    const keys = new Set(rows.map(({ key }) => key))
    const wrong = [
      ...rows.filter(({ key, value }) => wanted.get(key) !== value).map(({ key, value }) => `${key} is ${value}, not ${wanted.get(key)}`),
      ...[...wanted.keys()].filter((key) => !keys.has(key)).map((key) => `${key} is missing`),
      ...(keys.size === rows.length ? [] : [`${rows.length - keys.size} keys stand there twice`]),
    ]
    if (wrong.length === 0 || performance.now() > deadlineMs) {
      const shown = wrong.length === 0 ? '' : `, wrong ${wrong.length}: ${firstOf(wrong)}`
      return { name, passed: wrong.length === 0, detail: `${wanted.size} of the log, ${rows.length} rows${shown}` }
    }
    await sleep(LOOK_EVERY_MS)
  }
}
