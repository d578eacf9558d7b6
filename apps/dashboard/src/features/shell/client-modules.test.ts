import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const SOURCE = join(import.meta.dirname, '../..')
const files = (folder: string) =>
  readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => ({ name: `${folder}/${name}`, text: readFileSync(join(SOURCE, folder, name), 'utf8') }))
const importsOf = (text: string) =>
  [...text.matchAll(/^(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    ([, from, later]) => from ?? later ?? '',
  )

describe('what is bundled for browsers', () => {
  /** Rooms and folders that hold stores, queues, credentials; the root of contracts holds decoders that no page needs. */
  const SERVER = /^node:|^@km0\/(?!contracts\/)|(^|\/)server\//

  test('holds no server module: features import none, not even for a word of it', () => {
    const features = files('features')
    expect(features.length).toBeGreaterThan(200)
    const wrong = features.flatMap(({ name, text }) =>
      importsOf(text)
        .filter((from) => SERVER.test(from))
        .map((from) => `${name} imports ${from}`),
    )
    expect(wrong).toEqual([])
  })

  test('finds such an import', () => {
    const text =
      "import type { A } from '@km0/serving'\nimport { b } from '@km0/serving'\nimport {\n  c,\n} from '../../server/c.ts'\nconst d = import('node:fs')\n"
    expect(importsOf(text).filter((from) => SERVER.test(from))).toEqual(['@km0/serving', '../../server/c.ts', 'node:fs'])
  })
})

test('every command whose answer never came says so in words', () => {
  const silent = files('features').filter(({ text }) => text.includes('postJson') && /reason \?\? (''|null|undefined)/.test(text))
  expect(silent.map(({ name }) => name)).toEqual([])
})

test('every time of day goes through useTimes, which tells the offset in the hour that occurs twice', () => {
  const past = files('features').filter(
    ({ name, text }) => !name.endsWith('/use-times.ts') && text.includes('useFormatter') && /\.dateTime(Range)?\(/.test(text),
  )
  expect(past.map(({ name }) => name)).toEqual([])
})
