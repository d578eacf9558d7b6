import { afterEach, describe, expect, test, vi } from 'vitest'
import { postJson } from './post-json.ts'

afterEach(() => void vi.unstubAllGlobals())

/** A line that says of each request what becomes of it; null: the answer is lost. */
function line(...answers: readonly (number | null)[]) {
  const keys: string[] = []
  let count = 0
  vi.stubGlobal('fetch', async (_path: string, { headers }: { headers: Record<string, string> }) => {
    keys.push(headers['idempotency-key'] ?? '')
    const status = answers[count]
    count += 1
    if (status === null || status === undefined) throw new TypeError('the line is cut')
    return new Response(JSON.stringify(status < 300 ? { done: true } : { error: 'no', hint: 'Try again.' }), { status })
  })
  return keys
}

describe('a command', () => {
  test('whose answer was lost is the same command when it is sent again, and a new one afterwards', async () => {
    const keys = line(null, null, 201, 201)
    expect(await postJson('/a', { note: 'x' })).toEqual({ ok: false, reason: null })
    await postJson('/a', { note: 'x' })
    expect(await postJson('/a', { note: 'x' })).toEqual({ ok: true, value: { done: true } })
    await postJson('/a', { note: 'x' })
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).not.toBe(keys[0])
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
  })

  test('with another note is another command', async () => {
    const keys = line(null, 201)
    await postJson('/a', { note: 'x' })
    await postJson('/a', { note: 'y' })
    expect(keys[0]).not.toBe(keys[1])
  })

  test('that was refused is told so, and is a new one the next time', async () => {
    const keys = line(503, 201)
    expect(await postJson('/a', {})).toEqual({ ok: false, reason: 'no. Try again.' })
    await postJson('/a', {})
    expect(keys[0]).not.toBe(keys[1])
  })
})
