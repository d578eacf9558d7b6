import { describe, expect, test } from 'vitest'
import { twiceOffset } from './twice-offset.ts'

const at = (text: string) => Date.parse(text)

describe('the hour that occurs twice', () => {
  test('is told with its offset, first summer time, then winter time', () => {
    // 25 October 2026: at 03:00 +02:00 the clock is set back to 02:00 +01:00.
    expect(twiceOffset(at('2026-10-25T02:00:00+02:00'))).toBe('+02:00')
    expect(twiceOffset(at('2026-10-25T02:59:59.999+02:00'))).toBe('+02:00')
    expect(twiceOffset(at('2026-10-25T02:00:00+01:00'))).toBe('+01:00')
    expect(twiceOffset(at('2026-10-25T02:59:59.999+01:00'))).toBe('+01:00')
  })

  test.each([
    '2026-10-25T01:59:59.999+02:00',
    '2026-10-25T03:00:00+01:00',
    '2026-03-29T01:30:00+01:00',
    '2026-03-29T03:30:00+02:00',
    '2026-07-01T02:30:00+02:00',
    '2026-12-01T02:30:00+01:00',
  ])('is no other: %s', (text) => expect(twiceOffset(at(text))).toBeNull())

  test('is two hours of the year', () => {
    const hours = Array.from({ length: 365 * 24 }, (_, hour) => Date.UTC(2026, 0, 1, hour))
    expect(hours.filter((ms) => twiceOffset(ms) !== null)).toHaveLength(2)
  })
})
