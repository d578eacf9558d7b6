import { describe, expect, it } from 'vitest'
import { DEFAULT_PORT, parseArguments } from './arguments.mjs'

describe('options of npm start', () => {
  it('have defaults', () => {
    expect(parseArguments([])).toMatchObject({ demo: true, reset: false, play: null, port: DEFAULT_PORT, dataDir: '.km0' })
  })

  it('take values after a space or an equals sign', () => {
    expect(parseArguments(['--play', 'day.jsonl', '--speed=10', '--port', '4000', '--reset', '--yes'])).toMatchObject({
      play: 'day.jsonl',
      speed: '10',
      port: 4000,
      reset: true,
      yes: true,
    })
    expect(parseArguments(['--play', 'x', '--speed', 'max']).speed).toBe('max')
    expect(parseArguments(['--play=a=b.jsonl']).play).toBe('a=b.jsonl')
  })

  it('are refused with the reason', () => {
    expect(() => parseArguments(['--demo'])).toThrow(/no option --demo/)
    expect(() => parseArguments(['--port', '0'])).toThrow(/--port is a whole number from 1/)
    expect(() => parseArguments(['--play'])).toThrow(/--play needs a value/)
    expect(() => parseArguments(['--play', '--speed', '3'])).toThrow(/--play needs a value/)
    expect(() => parseArguments(['--speed', '3'])).toThrow(/goes with --play/)
    expect(() => parseArguments(['--play', 'x', '--speed', 'fast'])).toThrow(/--speed is a number of at least 1, or max, not fast/)
    expect(() => parseArguments(['--play', 'x', '--no-demo'])).toThrow(/exclude/)
  })
})
