import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { LOCALES, localeOf } from './locales.ts'

type Tree = { readonly [key: string]: string | Tree }
const read = (locale: string) => JSON.parse(readFileSync(new URL(`../../messages/${locale}.json`, import.meta.url), 'utf8')) as Tree
const flat = (tree: Tree, path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${path}${key}`, value] as [string, string]] : flat(value, `${path}${key}.`),
  )
const placeholders = (text: string) =>
  [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name]) => name))]
    .filter((name) => !['clar', 'fosc', 'claro', 'oscuro', 'light', 'dark'].includes(name ?? ''))
    .sort()

describe('messages', () => {
  const catalan = new Map(flat(read('ca')))
  test.each(LOCALES)('%s has the same messages with the same places', (locale) => {
    const messages = new Map(flat(read(locale)))
    expect([...messages.keys()].sort()).toEqual([...catalan.keys()].sort())
    for (const [key, text] of messages) {
      expect(text.trim(), key).not.toBe('')
      if (!text.includes('plural')) expect(placeholders(text), key).toEqual(placeholders(catalan.get(key) ?? ''))
    }
  })

  test.each(LOCALES)('%s: what a button of the users page is called holds what is written on it', (locale) => {
    const messages = new Map(flat(read(locale)))
    const written = [...messages].filter(([key]) => key.startsWith('users.') && key.endsWith('Short'))
    for (const [key, text] of written) expect(messages.get(key.slice(0, -'Short'.length))?.toLowerCase(), key).toContain(text.toLowerCase())
    expect(written.length).toBeGreaterThan(0)
  })

  test('an unknown language is Catalan', () => {
    expect([undefined, '', 'fr', 'es'].map(localeOf)).toEqual(['ca', 'ca', 'ca', 'es'])
  })
})
