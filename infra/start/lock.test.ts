import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it } from 'vitest'
import { announce, releaseLock, takeLock, whoRuns } from './lock.mjs'

const root = mkdtempSync(join(tmpdir(), 'km0-lock-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('the lock of a data folder', () => {
  it('says who has it and where its panel is', () => {
    const folder = join(root, 'a')
    expect(takeLock(folder)).toBeNull()
    announce(folder, { kafkaBrokers: '127.0.0.1:9092' })
    announce(folder, { url: 'http://127.0.0.1:3000/' })
    expect(takeLock(folder)).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:3000/', kafkaBrokers: '127.0.0.1:9092' })
    releaseLock(folder)
    expect(whoRuns(folder)).toBeNull()
  })

  it('is taken over from a process that is gone', async () => {
    const folder = join(root, 'b')
    takeLock(folder)
    const gone = spawn(process.execPath, ['-e', ''])
    await new Promise((resolve) => gone.once('exit', resolve))
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ pid: gone.pid, startTicks: null, url: null }))
    expect(takeLock(folder)).toBeNull()
    expect(whoRuns(folder)?.pid).toBe(process.pid)
  })

  it.skipIf(process.platform !== 'linux')('is taken over when the pid belongs to somebody else by now', () => {
    const folder = join(root, 'c')
    takeLock(folder)
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ pid: process.pid, startTicks: '1', url: null }))
    expect(whoRuns(folder)).toBeNull()
  })

  it('is taken over when its file is broken', () => {
    const folder = join(root, 'd')
    takeLock(folder)
    const file = join(folder, 'run.json')
    writeFileSync(file, '{"pid":')
    utimesSync(file, 1, 1)
    expect(takeLock(folder)).toBeNull()
  })

  // Each process tries in the same instant, says whether it has got the lock, and stays until all have.
  const contend = async (folder: string, count: number) => {
    const module = JSON.stringify(join(import.meta.dirname, 'lock.mjs'))
    const code = `
      import { takeLock } from ${module}
      process.stdin.once('data', () => console.log(takeLock(process.argv[1]) === null ? 'mine' : 'other'))
      console.log('ready')`
    const children = Array.from({ length: count }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', code, folder], { stdio: ['pipe', 'pipe', 'inherit'] }),
    )
    const said = children.map(({ stdout }) => createInterface(stdout)[Symbol.asyncIterator]())
    const next = () => Promise.all(said.map(async (lines) => (await lines.next()).value as string))
    expect(new Set(await next())).toEqual(new Set(['ready']))
    for (const { stdin } of children) stdin.write('go\n')
    const got = await next()
    for (const { stdin } of children) stdin.end()
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('close', resolve))))
    return got
  }

  it('goes to exactly one of several that start on an empty folder', async () => {
    const got = await contend(join(root, 'e'), 6)
    expect(got.filter((word) => word === 'mine')).toHaveLength(1)
  })

  it('goes to exactly one of several that find a stale one', async () => {
    const folder = join(root, 'f')
    mkdirSync(folder)
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ pid: process.pid, startTicks: '1', url: null }))
    const got = await contend(folder, 6)
    expect(got.filter((word) => word === 'mine')).toHaveLength(1)
  })
})
