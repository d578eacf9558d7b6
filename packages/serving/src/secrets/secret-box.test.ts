import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newSecretsKey, openSecretBox, SecretsKeyError } from './secret-box.ts'

const PLACE = 'km0.table.column'

describe('a secret', () => {
  it('is sealed so that it reads otherwise each time, and is opened by its key alone', () => {
    const [text, other] = [newSecretsKey(), newSecretsKey()]
    const box = openSecretBox({ text })
    const sealed = box.seal('çry me a river', PLACE)
    expect(sealed).not.toContain('river')
    expect(box.seal('çry me a river', PLACE)).not.toBe(sealed)
    expect(box.open(sealed, PLACE)).toBe('çry me a river')
    expect(() => openSecretBox({ text: other }).open(sealed, PLACE)).toThrow(SecretsKeyError)
    expect(() => openSecretBox({}).open(sealed, PLACE)).toThrow(/does not hold/)
    expect(() => openSecretBox({}).seal('a', PLACE)).toThrow(/KM0_SECRETS_KEY_FILE/)
  })

  it('is not opened when anybody has changed a byte of it, nor at another place', () => {
    const box = openSecretBox({ text: newSecretsKey() })
    const sealed = box.seal('secret', PLACE)
    const at = sealed.lastIndexOf(':') + 1
    const bytes = Buffer.from(sealed.slice(at), 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => box.open(sealed.slice(0, at) + changed.toString('base64url'), PLACE)).toThrow(SecretsKeyError)
    }
    expect(() => box.open(sealed, 'km0.other.column')).toThrow(SecretsKeyError)
  })

  it('of before there were keys is read as it is, and known not to be sealed', () => {
    const box = openSecretBox({ text: newSecretsKey() })
    expect(box.open('AAAA_bbbb-cccc', PLACE)).toBe('AAAA_bbbb-cccc')
    expect(box.isCurrent('AAAA_bbbb-cccc')).toBe(false)
    expect(box.isCurrent(box.seal('a', PLACE))).toBe(true)
  })

  it('is opened by a key that is no longer the first, while programs run', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'km0-secrets-')), 'keys')
    const [first, second] = [newSecretsKey(), newSecretsKey()]
    writeFileSync(file, `${first}\n`)
    const box = openSecretBox({ file })
    const sealed = box.seal('secret', PLACE)
    writeFileSync(file, `${second}\n${first}\n`)
    expect(box.open(sealed, PLACE)).toBe('secret')
    expect(box.isCurrent(sealed)).toBe(false)
    expect(openSecretBox({ text: second }).open(box.seal('secret', PLACE), PLACE)).toBe('secret')
  })

  it.each(['', 'short', `${newSecretsKey()} x`])('has no key in %j', (text) => {
    expect(() => openSecretBox({ text })).toThrow(/32 bytes in base64/)
  })
  it('has its keys in one place', () => {
    expect(() => openSecretBox({ text: newSecretsKey(), file: '/x' })).toThrow(/both set/)
    expect(() => openSecretBox({ file: '/not/there' }).seal('a', PLACE)).toThrow(/KM0_SECRETS_KEY_FILE: .*no such file/)
  })
})
