import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { LogFile, rotateIfLarge } from './log-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('keeps the newest lines in two files of a bounded size', () => {
  const file = join(folder, 'part.log')
  const log = new LogFile(file, 100)
  for (let n = 0; n < 100; n++) log.write(`line ${n}`)
  expect(log.tail(2)).toEqual(['line 98', 'line 99'])
  expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThanOrEqual(200)
  const kept = readFileSync(`${file}.1`, 'utf8') + readFileSync(file, 'utf8')
  const first = Number(/line (\d+)/.exec(kept)?.[1])
  expect(kept).toBe(Array.from({ length: 100 - first }, (_, n) => `line ${first + n}\n`).join(''))
})

it('goes on where an earlier run stopped', () => {
  const file = join(folder, 'again.log')
  new LogFile(file, 20).write('0123456789')
  new LogFile(file, 20).write('0123456789')
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('0123456789\n')
})

it('moves a large log of somebody else aside, and a small one not', () => {
  const file = join(folder, 'service.log')
  new LogFile(file).write('x'.repeat(50))
  rotateIfLarge(file, 100)
  expect(existsSync(file)).toBe(true)
  rotateIfLarge(file, 10)
  expect(existsSync(file)).toBe(false)
})
