import { describe, expect, test } from 'vitest'
import { holdRows } from './prepare-held-rows.ts'

const rows = (...keys: string[]) => keys.map((key) => ({ key }))
const shown = (held: readonly { row: { key: string }; gone: boolean }[]) =>
  held.map(({ row, gone }) => (gone ? `(${row.key})` : row.key)).join(' ')

describe('rows under a pointer', () => {
  test('free, the list is as it is', () => {
    expect(shown(holdRows(holdRows([], rows('a', 'b'), false), rows('b', 'a'), false))).toBe('b a')
  })

  test('held, rows keep their places with new contents, leavers stay marked, newcomers come last', () => {
    const before = holdRows(
      [],
      [
        { key: 'a', km: 1 },
        { key: 'b', km: 2 },
        { key: 'c', km: 3 },
      ],
      false,
    )
    const after = holdRows(
      before,
      [
        { key: 'new', km: 9 },
        { key: 'c', km: 8 },
        { key: 'a', km: 1 },
      ],
      true,
    )
    expect(shown(after)).toBe('a (b) c new')
    expect(after[2]?.row.km).toBe(8)
  })

  test('one that left and is back is no longer marked, in the same place', () => {
    const left = holdRows(holdRows([], rows('a', 'b'), false), rows('b'), true)
    expect(shown(holdRows(left, rows('b', 'a'), true))).toBe('a b')
  })

  test('let go, the list is as it is again', () => {
    const held = holdRows(holdRows([], rows('a', 'b'), false), rows('b', 'c'), true)
    expect(shown(holdRows(held, rows('b', 'c'), false))).toBe('b c')
  })
})
