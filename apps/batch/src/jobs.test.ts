import { describe, expect, it } from 'vitest'
import { handlerOf, UnknownJobError } from './jobs.ts'

describe('kinds of job', () => {
  const handlers = { count: async () => 7 }

  it('finds a handler by name', async () => {
    expect(await handlerOf('count', handlers)({}, async () => {})).toBe(7)
  })

  it.each(['recount', 'constructor', '__proto__', ''])('refuses %j by name and says what there is', (kind) => {
    expect(() => handlerOf(kind, handlers)).toThrow(UnknownJobError)
    expect(() => handlerOf(kind, handlers)).toThrow(/knows count/)
  })
})
