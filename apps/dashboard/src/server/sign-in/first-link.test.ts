import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { giveFirstLink } from './sign-in-extension.ts'

test('the first link is said and left for our user alone, when the store is there; none leaves an empty file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'km0-link-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sign-in-link')
  const said: string[] = []
  let tries = 0
  const give = (path: string | null) =>
    giveFirstLink({
      signIn: {
        firstLink: async () => {
          tries += 1
          if (tries === 1) throw new Error('away')
          return path === null ? null : { email: 'a@b.c', path, expiresAtMs: 0 }
        },
      },
      ...{ url: 'http://panel', file, say: (link: string) => said.push(link), stopped: new AbortController().signal },
    })
  await give('/entrada#abc')
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777, said, tries]).toEqual([
    'http://panel/entrada#abc',
    0o600,
    ['http://panel/entrada#abc'],
    2,
  ])
  await give(null)
  expect([readFileSync(file, 'utf8'), said.length]).toEqual(['', 1])
})
