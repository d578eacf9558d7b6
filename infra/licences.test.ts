import { describe, expect, it } from 'vitest'
import { isAllowed, licenceOf } from './licences.mjs'

describe('licences', () => {
  it.each(['MIT', 'MIT OR GPL-3.0', '(MIT OR Apache-2.0)', 'Apache-2.0 AND MIT'])('%s is allowed', (text) =>
    expect(isAllowed(text)).toBe(true),
  )
  it.each(['', 'GPL-3.0', 'AGPL-3.0-only', 'MIT AND GPL-2.0', 'SEE LICENSE IN x', 'UNLICENSED'])('%s is not', (text) =>
    expect(isAllowed(text)).toBe(false),
  )

  it('are read in the ways in which packages write them', () => {
    expect(licenceOf({ license: 'MIT' })).toBe('MIT')
    expect(licenceOf({ license: { type: 'ISC' } })).toBe('ISC')
    expect(licenceOf({ licenses: [{ type: 'MIT' }, { type: 'GPL-2.0' }] })).toBe('MIT OR GPL-2.0')
    expect(licenceOf({})).toBe('')
  })
})
