import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSecretsKeys } from '@km0/serving'
import { afterEach, expect, it } from 'vitest'
import { secretsKeyOf } from './secrets-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-key-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('is made at the first start, for our user alone, and stays', () => {
  const file = join(folder, 'secrets-key')
  expect(secretsKeyOf(folder, {})).toEqual({ KM0_SECRETS_KEY_FILE: file })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  expect(parseSecretsKeys(text)).toHaveLength(1)
  secretsKeyOf(folder, {})
  expect(readFileSync(file, 'utf8')).toBe(text)
  expect(secretsKeyOf('/not/there', { KM0_SECRETS_KEY: 'x' })).toEqual({})
  expect(secretsKeyOf('/not/there', { KM0_SECRETS_KEY_FILE: 'x' })).toEqual({})
})
