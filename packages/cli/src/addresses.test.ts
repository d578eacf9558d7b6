import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AddressesError, findBrokers, findCheckpoints, findDatabaseUrl } from './addresses.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'km0-run-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function run(name: string, pid: number, kafkaBrokers = '127.0.0.1:1'): void {
  mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(
    join(folder, name, 'run.json'),
    JSON.stringify({ pid, kafkaBrokers, redisUrl: 'redis://r', databaseUrl: `postgres://${name || 'x'}`, more: 1 }),
  )
}

describe('addresses of a platform', () => {
  it('are those of the environment where it says them', () => {
    expect(findBrokers({ KAFKA_BROKERS: 'a:1, b:2' }, folder)).toEqual(['a:1', 'b:2'])
    expect(findDatabaseUrl({ DATABASE_URL: 'postgres://y' }, folder)).toBe('postgres://y')
  })

  it('are else those of what runs here, in a folder or one below it', () => {
    run('play-day', process.pid, '127.0.0.1:7')
    expect(findBrokers({ KAFKA_BROKERS: '' }, folder)).toEqual(['127.0.0.1:7'])
    expect(findDatabaseUrl({}, folder)).toBe('postgres://play-day')
    expect(findCheckpoints(folder)).toBe(join(folder, 'play-day', 'checkpoints'))
  })

  it('are not those of a platform that is gone, nor of a file that is half written', () => {
    run('', 2 ** 22 + 1)
    mkdirSync(join(folder, 'half'))
    writeFileSync(join(folder, 'half', 'run.json'), '{"pid":')
    expect(() => findBrokers({}, folder)).toThrow(AddressesError)
    expect(() => findBrokers({}, join(folder, 'nowhere'))).toThrow(/npm start/)
  })

  it('are asked for when two run', () => {
    run('', process.pid)
    run('play-day', process.pid)
    expect(() => findDatabaseUrl({}, folder)).toThrow(/2 platforms run.*DATABASE_URL/)
  })
})
