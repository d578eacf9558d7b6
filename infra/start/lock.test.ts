import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    writeFileSync(join(folder, 'run.json'), '{"pid":')
    expect(takeLock(folder)).toBeNull()
  })
})
