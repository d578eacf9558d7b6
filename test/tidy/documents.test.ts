import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const DOCUMENTS = [
  ...['README.md', 'ARCHITECTURE.md', 'GLOSSARY.md', 'CONTRIBUTING.md', 'test/README.md'],
  ...['docs', 'docs/adr', 'docs/proofs'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
]
const LINK = /\]\(([^)#:]+)(?:#[^)]*)?\)/g
const PATH = /`((?:packages|apps|infra|test|docs)\/[\w.*/-]+)`/g
/** Made by a build or a run, so not there in a clean clone. */
const MADE = /(^|\/)(dist|artefacts|\.next|\.generated)(\/|$)/

const targets = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, target = '']) => target)

/** `a/b/*.test.ts` is there when a file fits. */
function isThere(path: string): boolean {
  if (!path.includes('*')) return existsSync(path)
  if (dirname(path).includes('*')) return existsSync(dirname(path.slice(0, path.indexOf('*') + 1)))
  const pattern = new RegExp(`^${basename(path).replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return existsSync(dirname(path)) && readdirSync(dirname(path)).some((file) => pattern.test(file))
}

describe('documents', () => {
  it.each(DOCUMENTS)('%s names files that are there', (document) => {
    const text = readFileSync(document, 'utf8')
    const named = [...targets(text, LINK).map((target) => join(dirname(document), target)), ...targets(text, PATH)]
    expect(named.filter((path) => !MADE.test(path) && !isThere(path))).toEqual([])
  })
})
