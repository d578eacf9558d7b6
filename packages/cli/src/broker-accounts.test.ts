import { pbkdf2Sync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BrokerAccounts, checkVanId } from './broker-accounts.ts'
import { owntracksConfiguration, owntracksLink } from './owntracks-configuration.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'km0-accounts-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const passwords = () => readFileSync(join(folder, 'passwords'), 'utf8')

describe('accounts of the broker', () => {
  it('are lines that mosquitto reads, readable by their owner alone', () => {
    const accounts = new BrokerAccounts(folder)
    accounts.prepare()
    accounts.set('furgoneta-3', 'secret')
    const [, , rounds, salt, hash] = passwords().trim().split('$')
    expect(passwords().startsWith('furgoneta-3:$7$101$')).toBe(true)
    expect(pbkdf2Sync('secret', Buffer.from(salt ?? '', 'base64'), Number(rounds), 64, 'sha512').toString('base64')).toBe(hash)
    expect(statSync(join(folder, 'passwords')).mode & 0o777).toBe(0o600)
  })

  it('change one by one: another one keeps its password, and preparing again keeps all', () => {
    const accounts = new BrokerAccounts(folder)
    accounts.prepare()
    accounts.set('a', 'one')
    accounts.set('b', 'two')
    const before = passwords().split('\n')
    accounts.set('b', 'three')
    accounts.prepare()
    const after = passwords().split('\n')
    expect(after[0]).toBe(before[0])
    expect(after[1]).not.toBe(before[1])
    expect([accounts.remove('a'), accounts.remove('a')]).toEqual([true, false])
    expect(accounts.names()).toEqual(['b'])
  })

  it('are not changed by two at once', () => {
    const accounts = new BrokerAccounts(folder)
    accounts.prepare()
    writeFileSync(join(folder, 'passwords.lock'), '')
    expect(() => accounts.set('a', 'one')).toThrow('another command')
  })

  it('let a van publish under its own name alone', () => {
    new BrokerAccounts(folder).prepare()
    const acl = readFileSync(join(folder, 'acl'), 'utf8')
    expect(acl.match(/^pattern .*$/gm)).toEqual(['pattern write km0/repartidors/%u/posicio', 'pattern write owntracks/%u/mobil'])
  })

  it.each(['km0-pont', 'a/b', 'a+', '#', 'a:b', 'a\nb', '', 'é', 'x'.repeat(65)])('refuse %j as a van', (id) => {
    expect(() => checkVanId(id)).toThrow()
  })
})

it('the link for a phone holds the configuration', () => {
  const text = owntracksConfiguration({ van: 'furgoneta-3', password: 'p+/=', host: 'h', port: 8883, tls: true })
  const inline = new URL(owntracksLink(text)).searchParams.get('inline') ?? ''
  expect(JSON.parse(Buffer.from(inline, 'base64').toString())).toEqual(JSON.parse(text))
  expect(JSON.parse(text)).toMatchObject({
    _type: 'configuration',
    host: 'h',
    port: 8883,
    tls: true,
    username: 'furgoneta-3',
    deviceId: 'mobil',
  })
})
