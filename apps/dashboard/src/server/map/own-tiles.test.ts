import { describe, expect, test } from 'vitest'
import { readRange } from './own-tiles.ts'

describe('parts of an archive', () => {
  test('are what was asked for, up to its end', () => {
    expect(readRange('bytes=0-16383', 1_000_000)).toEqual({ from: 0, to: 16_383 })
    expect(readRange('bytes=0-16383', 127)).toEqual({ from: 0, to: 126 })
    expect(readRange('bytes=126-126', 127)).toEqual({ from: 126, to: 126 })
  })

  test.each([
    undefined,
    '',
    'bytes=',
    'bytes=-5',
    'bytes=5-',
    'bytes=5-4',
    'bytes=127-200',
    'bytes=0-1,3-4',
    'items=0-1',
    'bytes=0-99999999',
  ])('refuses %s', (header) => {
    expect(readRange(header, header?.includes('99999999') === true ? 1e9 : 127)).toBeNull()
  })
})
