import { existsSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, ourRoom, packageName, sourceFiles } from './imports.ts'
import { OWNERS, ROOMS } from './rooms.ts'

const rooms = Object.keys(ROOMS)
const filesOf = (room: string) => sourceFiles(room)
const isTest = (file: string) => /\.test\.tsx?$/.test(file)
const at = (i: { file: string; line: number; target: string }) => `${i.file}:${i.line} imports ${i.target}`

describe('rooms', () => {
  it('are all there and hold code', () => {
    for (const room of rooms) expect(filesOf(room).length, room).toBeGreaterThan(0)
  })

  it('stand in ARCHITECTURE.md as the table has them', () => {
    const rows = readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/^\| `((?:packages|apps)\/\w+|infra)` \|.*\| ([^|]*) \|$/gm)
    const told = Object.fromEntries([...rows].map(([, room = '', names = '']) => [room, names === '–' ? [] : names.split(', ')]))
    const table = Object.entries(ROOMS).map(([room, { mayImport }]) => [room, mayImport.map((name) => name.replace(/^.*\//, '')).sort()])
    expect(told).toEqual(Object.fromEntries(table))
  })

  it.each(rooms)('%s imports only the rooms below it', (room) => {
    const allowed = ROOMS[room]?.mayImport ?? []
    const wrong = filesOf(room)
      .filter((file) => !isTest(file))
      .flatMap(importsOf)
      .filter(({ file, target }) => {
        if (target.startsWith('.')) return !normalize(join(file, '..', target)).startsWith(room)
        const ours = ourRoom(target, rooms)
        return ours !== null && ours !== room && !allowed.includes(ours)
      })
    expect(wrong.map(at)).toEqual([])
  })

  it.each(rooms.filter((room) => ROOMS[room]?.pure))('%s is pure: no Node module, no clock, no randomness', (room) => {
    const sources = filesOf(room).filter((file) => !isTest(file))
    const modules = sources.flatMap(importsOf).filter(({ target }) => target.startsWith('node:'))
    expect(modules.map(at)).toEqual([])
    const impure = sources.filter((file) =>
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b/.test(readFileSync(file, 'utf8')),
    )
    expect(impure).toEqual([])
    expect(JSON.parse(readFileSync(join(room, 'tsconfig.json'), 'utf8')).compilerOptions?.types ?? []).toEqual([])
  })

  it('each vendor library has one owner', () => {
    const wrong = [...rooms, 'test'].flatMap((room) =>
      filesOf(room)
        .filter((file) => !isTest(file))
        .flatMap(importsOf)
        .filter(({ target }) => {
          const owners = OWNERS[packageName(target)]
          return owners !== undefined && !owners.includes(room)
        }),
    )
    expect(wrong.map(at)).toEqual([])
  })

  it('wire names stay in contracts and where values are put together', () => {
    const wire = /['"](repartiment|comandes|inventari)\./
    const wrong = rooms
      .filter((room) => room !== 'packages/contracts')
      .flatMap(filesOf)
      .filter((file) => !isTest(file) && wire.test(readFileSync(file, 'utf8')))
    expect(wrong).toEqual([])
  })
})

describe('files', () => {
  it('are at most 400 lines', () => {
    const long = [...rooms, 'test'].flatMap(filesOf).filter((file) => readFileSync(file, 'utf8').split('\n').length > 401)
    expect(long).toEqual([])
  })

  it('the fixed top level is there', () => {
    for (const name of [
      'package.json',
      'pnpm-workspace.yaml',
      'apps/bridge',
      'apps/stream',
      'apps/batch',
      'apps/dashboard',
      'infra',
      'test',
    ])
      expect(existsSync(name), name).toBe(true)
  })
})
