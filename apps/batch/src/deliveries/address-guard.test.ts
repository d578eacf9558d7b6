import { describe, expect, it } from 'vitest'
import { isPublic, PrivateAddressError, publicLookup, requirePublic } from './address-guard.ts'

describe('addresses of webhooks', () => {
  it.each([
    ...[
      '127.0.0.1',
      '10.1.2.3',
      '172.31.255.255',
      '192.168.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...['::1', '::', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::'],
    ...['2001:db8::1', 'nothing', ''],
  ])('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  it.each(['8.8.8.8', '93.184.216.34', '172.32.0.1', '192.169.0.1', '2606:4700:4700::1111', '2a00:1450:4003::1'])(
    '%s is public',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://017700000001/',
    'https://[::ffff:10.0.0.1]:8443/x',
  ])('%s is refused however it is written', (url) => {
    expect(() => requirePublic(new URL(url))).toThrow(PrivateAddressError)
  })

  it('a name that leads into the house is refused when it is looked up', async () => {
    const error = await new Promise((resolve) => publicLookup('localhost', { all: true }, (failure) => resolve(failure)))
    expect(error).toBeInstanceOf(PrivateAddressError)
  })
})
