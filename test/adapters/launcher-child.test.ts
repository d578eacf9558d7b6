import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backoff } from '@km0/infra/launcher/backoff'
import { Child, type ChildOptions } from '@km0/infra/launcher/child'
import { LogFile } from '@km0/infra/launcher/log-file'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'km0-child-'))
const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop(0)))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
/** Runs JavaScript as a part; `said` is what would be on the console. */
function run(program: string, rest: Partial<ChildOptions> = {}): { child: Child; said: string[]; log: string } {
  const log = join(folder, `${++count}.log`)
  const said: string[] = []
  const child = new Child({
    name: 'part',
    command: process.execPath,
    args: ['-e', program],
    cwd: folder,
    environment: process.env,
    log: new LogFile(log),
    mayEnd: false,
    stopTimeoutMs: 2_000,
    say: (line) => said.push(line),
    backoff: new Backoff({ quickMs: 10, firstMs: 50, capMs: 200, wellAfterMs: 60_000 }),
    ...rest,
  })
  children.push(child)
  child.start()
  return { child, said, log }
}

async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error('not within 10 s')
    await sleep(10)
  }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('a part', () => {
  it('that crashes is said with the end of its log and started again', async () => {
    const starts = join(folder, 'starts')
    writeFileSync(starts, '')
    const { said } = run(
      `require('node:fs').appendFileSync(${JSON.stringify(starts)}, 'x'); console.error('no more disk'); process.exit(7)`,
    )
    await until(() => readFileSync(starts, 'utf8').length >= 3)
    expect(said.some((line) => /part ended \(exit 7\)[\s\S]*no more disk/.test(line))).toBe(true)
    expect(said).toContain('part is started again in 0.05 s')
    expect(said).toContain('part is started again in 0.1 s')
  })

  it('that was killed is started again', async () => {
    const { child, said } = run('setInterval(() => {}, 1000)')
    const first = child.pid as number
    process.kill(first, 'SIGKILL')
    await until(() => child.state === 'running' && child.pid !== first)
    expect(said[0]).toMatch(/part ended \(SIGKILL\)/)
  })

  it('that refuses its settings is not started again', async () => {
    const reasons: string[] = []
    const { child } = run('process.exit(2)', { onHopeless: (reason) => reasons.push(reason) })
    await until(() => child.state === 'ended')
    expect(reasons).toEqual(['part refuses its settings'])
  })

  it('that may end has finished with code 0 and has crashed with another', async () => {
    const good = run('', { mayEnd: true })
    await until(() => good.child.state === 'ended')
    expect(good.said).toEqual(['part has finished'])
    const bad = run('process.exit(1)', { mayEnd: true })
    await until(() => bad.said.some((line) => line.includes('started again')))
  })

  it('stops when asked, and is not started again', async () => {
    const { child, said, log } = run(
      `process.on('SIGTERM', () => { console.log('bye'); process.exit(0) }); console.log('up'); setInterval(() => {}, 1000)`,
    )
    await until(() => readFileSync(log, 'utf8').includes('up\n'))
    await child.stop()
    expect(readFileSync(log, 'utf8')).toMatch(/up\nbye\n$/)
    await sleep(200)
    expect(child.state).toBe('ended')
    expect(said).toEqual([])
  })

  it('that does not stop is killed with the children it has', async () => {
    const program = `
      process.on('SIGTERM', () => {})
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'])
      console.log('child ' + child.pid)
      setInterval(() => {}, 1000)`
    const { child, said, log } = run(program)
    await until(() => /child \d+/.test(readFileSync(log, 'utf8')))
    const grandchild = Number(/child (\d+)/.exec(readFileSync(log, 'utf8'))?.[1])
    await child.stop(300)
    expect(said).toEqual(['part did not stop within 300 ms and is killed'])
    await until(() => !isAlive(grandchild))
    expect(isAlive(child.pid as number)).toBe(false)
  })

  it('shows warnings and errors on the console and all in its log', async () => {
    const { said, log } = run(`
      console.log(JSON.stringify({ level: 'info', msg: 'quiet' }))
      console.log(JSON.stringify({ level: 'warn', msg: 'loud' }))
      setInterval(() => {}, 1000)`)
    await until(() => said.length > 0)
    expect(said).toEqual(['[part] warn: loud'])
    expect(readFileSync(log, 'utf8')).toContain('quiet')
  })
})
