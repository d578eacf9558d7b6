import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { allLogCalls, logCalls, sources } from './log-calls.ts'

/** What a line above debug may not carry: bytes of a message, and where a person was. */
const PAYLOAD = /\b(?:value|payload|lat|lon|latE7|lonE7)\b/
const calls = allLogCalls()
const told = new Set([...readFileSync('docs/logs.md', 'utf8').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name))

describe('logs', () => {
  it('the reader of log calls sees calls, fields and payloads', () => {
    const source = "this.#log.warn({ err: error, at: { lat: 1 } }, 'lat (of')\nlog.debug({ value })\nlog?.info({ payload })"
    const found = logCalls('a.ts', source)
    expect(found.map(({ fields }) => fields)).toEqual([['err', 'at'], ['payload']])
    expect(found.map(({ code }) => PAYLOAD.test(code))).toEqual([true, true])
    expect(calls.length).toBeGreaterThan(50)
  })

  it('no call above debug carries a payload or a position', () => {
    expect(calls.filter(({ code }) => PAYLOAD.test(code))).toEqual([])
  })

  it('the fields of the calls are those of docs/logs.md', () => {
    const used = new Set(calls.flatMap(({ fields }) => fields))
    expect([...used].filter((name) => !told.has(name)).sort()).toEqual([])
    const always = ['level', 'time', 'part', 'msg']
    expect([...told].filter((name) => name !== undefined && !used.has(name) && !always.includes(name))).toEqual([])
  })

  it('loggers are made in one place, which puts `part` in each line', () => {
    const makers = sources().filter((path) => /\bpino\(/.test(readFileSync(path, 'utf8')))
    expect(makers).toEqual(['packages/runtime/src/logger.ts'])
    expect(readFileSync(makers[0] as string, 'utf8')).toContain('base: { part }')
  })
})
