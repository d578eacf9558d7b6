import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openDataFolder, resetDataFolder, versionProblem } from './data-version.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-version-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('version of the data', () => {
  it('fits when it is new or the same', () => {
    expect(versionProblem(null, 2, '.km0')).toBeNull()
    expect(versionProblem('2\n', 2, '.km0')).toBeNull()
  })

  it('names the ways on when it does not', () => {
    expect(versionProblem('1\n', 2, '.km0')).toMatch(/an older version[\s\S]*--reset/)
    expect(versionProblem('3', 2, '.km0')).toMatch(/a newer version/)
    expect(versionProblem('x', 2, '.km0')).toMatch(/another version/)
  })

  it('is written into a new folder and held against the next start', () => {
    const data = openDataFolder(folder, 1)
    expect(openDataFolder(folder, 1)).toBe(data)
    expect(() => openDataFolder(folder, 2)).toThrow(/an older version/)
  })

  it('goes with the data at a reset; played days and the lock stay', () => {
    const data = openDataFolder(folder, 1)
    mkdirSync(join(folder, 'play-day'))
    writeFileSync(join(folder, 'run.json'), '{}')
    resetDataFolder(folder, [1])
    expect(existsSync(data)).toBe(false)
    expect(existsSync(join(folder, 'play-day'))).toBe(true)
    expect(existsSync(join(folder, 'run.json'))).toBe(true)
    openDataFolder(folder, 2)
  })
})
