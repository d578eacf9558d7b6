import { expect, it } from 'vitest'
import { DEFAULT_STREAM_HEAP_MIB, parseStreamHeapMib } from './heap.ts'

it('the heap of a stream role is a number of MiB, or refused', () => {
  expect([undefined, '', '64', '2000'].map(parseStreamHeapMib)).toEqual([DEFAULT_STREAM_HEAP_MIB, DEFAULT_STREAM_HEAP_MIB, 64, 2_000])
  for (const wrong of ['63', 'much', '-1', '1e3', '7.5']) expect(() => parseStreamHeapMib(wrong)).toThrow(/KM0_STREAM_HEAP_MIB/)
})
