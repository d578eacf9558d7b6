import { describe, expect, it } from 'vitest'
import { consoleText, LineBrake } from './console-lines.ts'

describe('lines for the console', () => {
  it('are warnings and errors, with their reason', () => {
    expect(consoleText('{"level":"info","msg":"ready"}', 'stdout')).toBeNull()
    expect(consoleText('{"level":"warn","msg":"slow"}', 'stdout')).toBe('warn: slow')
    expect(consoleText('{"level":"fatal","msg":"stopping","err":{"message":"no disk"}}', 'stdout')).toBe('fatal: stopping (no disk)')
  })

  it('are what a runtime says on standard error, not what a library prints', () => {
    expect(consoleText('Error: boom', 'stderr')).toBe('Error: boom')
    expect(consoleText('{broken', 'stderr')).toBe('{broken')
    expect(consoleText('hello', 'stdout')).toBeNull()
    expect(consoleText('  ', 'stderr')).toBeNull()
  })

  it('are held back when there are too many, and counted', () => {
    const brake = new LineBrake(2, 1_000)
    expect(['a', 'b', 'c', 'd'].map((line, index) => brake.pass(line, index))).toEqual([['a'], ['b'], [], []])
    expect(brake.pass('e', 1_000)).toEqual(['(2 more lines are in its log)', 'e'])
    expect(brake.pass('f', 1_001)).toEqual(['f'])
  })
})
